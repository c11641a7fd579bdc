// libpq of PostgreSQL 14 or later.
#ifndef PRIVYSEAL_CLIBPQ_SHIM_H
#define PRIVYSEAL_CLIBPQ_SHIM_H

#include <libpq-fe.h>

// Swift imports no macro that casts (src/include/postgres_ext.h).
static const int privyseal_pg_sqlstate = PG_DIAG_SQLSTATE;
static const int privyseal_pg_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int privyseal_pg_message = PG_DIAG_MESSAGE_PRIMARY;

#endif
