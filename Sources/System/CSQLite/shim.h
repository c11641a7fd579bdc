// SQLite 3.40 or later.
#ifndef PRIVYSEAL_CSQLITE_SHIM_H
#define PRIVYSEAL_CSQLITE_SHIM_H

#include <sqlite3.h>

/// Sets `SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE`. Swift cannot call `sqlite3_db_config`, which is variadic.
static inline int privyseal_sqlite_keep_log_on_close(sqlite3 *connection, int keeps) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, (int *)0);
}

#endif
