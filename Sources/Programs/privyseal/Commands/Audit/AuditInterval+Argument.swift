public import ArgumentParser
public import AuditKit

extension AuditInterval: ExpressibleByArgument {}
