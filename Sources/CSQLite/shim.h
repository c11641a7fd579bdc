// SQLite 3.40 or later.
#ifndef PRIVYSEAL_CSQLITE_SHIM_H
#define PRIVYSEAL_CSQLITE_SHIM_H

#include <sqlite3.h>

#endif
