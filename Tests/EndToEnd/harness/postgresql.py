"""Gateways that keep their audit logs in PostgreSQL, and an independent check of these logs."""

from auditing import AuditCopy, AuditedService, notes_in


class GatewayOnPostgreSQL(AuditedService):
    """A gateway whose audit log is in PostgreSQL."""

    def __init__(self, binary, directory, keys, database, audit="durability: oneServer", origin=None, **more):
        self.url = database
        self.origin = origin or f"test/{directory.parent.name}/{directory.name}"
        super().__init__(binary, directory, keys, audit, **more)

    def configure(self, audit="", *more, **others):
        self.database = self.url
        lines = [f"key: {self.place}/audit.key", f"origin: {self.origin}", audit]
        super().configure("\n".join(line for line in lines if line), *more, **others)

    @property
    def public_key(self):
        return self.place / "audit.key.pub"


class LogInPostgreSQL(AuditCopy):
    """The contents of a log, read with psql alone."""

    def __init__(self, server, origin):
        self.origin = origin
        super().__init__(server)

    def read(self, server):
        def rows(columns, table):
            condition = f"WHERE log = (SELECT id FROM privyseal.log WHERE origin = '{self.origin}')"
            text = server.sql(f"SELECT {columns} FROM privyseal.{table} {condition} ORDER BY 1", "privyseal")
            return [line.split("|") for line in text.splitlines()]

        def note(hexadecimal):
            return bytes.fromhex(hexadecimal).decode()

        entries = rows("idx, mark, encode(body, 'hex')", "entry")
        segments = rows("number, encode(root, 'hex')", "segment")
        kept = rows("size, encode(convert_to(note, 'UTF8'), 'hex')", "checkpoint")
        condition = f"WHERE origin = '{self.origin}' AND note <> ''"
        heads = server.sql(f"SELECT size, encode(convert_to(note, 'UTF8'), 'hex') FROM privyseal.log {condition}", "privyseal")
        return (
            [(int(index), int(mark), bytes.fromhex(body)) for index, mark, body in entries],
            [(int(number), bytes.fromhex(root)) for number, root in segments],
            [note(text) for _, text in kept],
            [(int(size), note(text)) for size, text in (line.split("|") for line in heads.splitlines())],
        )


def everything_wrong(server, service, signatures, refused=()):
    """All faults of a gateway's log, found by every check."""
    log = LogInPostgreSQL(server, origin(service))
    faults = log.faults(service.public_key, notes_in(service.checkpoints))
    faults += log.comparison(signatures, refused)
    status, report, errors = service.run("audit", "verify", "--format", "json", "--quiet")
    if status != 0:
        faults.append(f"audit verify ended with {status}: {report.decode()}{errors.decode()}")
    return faults


def origin(service):
    """The name of the log, from its key (C2SP signed-note)."""
    return service.public_key.read_text().split("+")[0]
