/* Record before release, with an audit log in PostgreSQL: docs/model.md explains this model.

   Two gateways can open the same log, one after the other. Each answers requests and changes its active key. The
   database has a primary server and a synchronous standby. Between any two steps, a gateway, the primary server or the
   network can stop. The macros NO_… remove one guard each; then a property must fail. */

#define GATEWAYS 2
#define REQUESTS 2
#define CHANGES 1
#define CRASHES 1    /* of the primary server, which recovers by itself */
#define FAILOVERS 1  /* to the standby */
#define KILLS 1      /* of a gateway, which starts again */
#define ENTRIES 4    /* the most that these events can append */

#define KEY_CHANGE 100  /* an entry: the number of the key that is active from then on is added */

/* ---- The database ---- */

typedef Server { byte epoch; byte size; byte entry[ENTRIES]; };
Server server[2];
byte primary = 0;
#define standby (1 - primary)
/* The transaction that has locked the row of the log: the process that began it, or 0. */
byte holder = 0;
#define ORPHAN 255   /* a commit that waits for the standby, and whose gateway was killed */
/* Counts the ends of connections to the primary server. */
byte connection = 0;
byte crashes = 0, failovers = 0;

/* ---- What callers have ---- */

bool released[REQUESTS + 1];
byte keyOf[REQUESTS + 1];
byte requests = 0;

/* ---- The gateways ---- */

typedef Gateway {
    byte epoch;       /* 0: it does not run */
    byte key;         /* the active key, as the gateway knows it */
    byte inFlight;    /* requests that have selected their key and have no durable entry yet */
    bool isPaused;    /* requests wait, because the active key changes */
    bool isFenced;
};
Gateway gateway[GATEWAYS];
byte changes = 0, kills = 0;

/* The active key after the entries of a server. */
hidden byte cursor, activeKey;   /* Scratch variables are not part of the state. */
inline readActiveKey(s) {
    d_step {
        activeKey = 0; cursor = 0;
        do
        :: cursor < server[s].size ->
            if :: server[s].entry[cursor] >= KEY_CHANGE -> activeKey = server[s].entry[cursor] - KEY_CHANGE :: else fi;
            cursor++
        :: else -> break
        od
    }
}

hidden byte isThere;
inline find(s, value) {
    d_step {
        isThere = false; cursor = 0;
        do
        :: cursor < server[s].size -> isThere = (isThere || server[s].entry[cursor] == value -> true : false); cursor++
        :: else -> break
        od
    }
}

inline copyServer(from, to) {
    d_step {
        server[to].epoch = server[from].epoch; server[to].size = server[from].size; cursor = 0;
        do :: cursor < ENTRIES -> server[to].entry[cursor] = server[from].entry[cursor]; cursor++ :: else -> break od;
        cursor = 0
    }
}

/* Property: every released signature is on both servers. */
inline checkReleased() {
    id = 1;
    do
    :: id <= REQUESTS ->
        if :: released[id] -> find(primary, id); assert(isThere) :: else fi;
        id++
    :: else -> break
    od
}

active proctype Database() {
    byte id;
    do
    /* The standby gets what the primary has. */
    :: atomic {
        server[standby].size != server[primary].size || server[standby].epoch != server[primary].epoch ->
        copyServer(primary, standby)
       }
    :: atomic {
        holder == ORPHAN && server[standby].size == server[primary].size &&
        server[standby].epoch == server[primary].epoch -> holder = 0
       }
    /* The primary crashes and recovers. All connections end; what was committed on its disk stays. */
    :: atomic { crashes < CRASHES -> crashes++; connection++; holder = 0; checkReleased() }
    /* The primary is lost. The standby is promoted, and gets a new standby. */
    :: atomic {
        failovers < FAILOVERS -> failovers++; connection++; holder = 0; primary = standby;
        copyServer(primary, standby);
        checkReleased()
       }
    od
}

/* One transaction of the process `me` of gateway g, which appends `value`. Sets `outcome`. */
#define COMMITTED 1
#define UNKNOWN 2   /* the connection ended: the commit may have happened */
#define FENCED 3
#define KILLED 4    /* the gateway was killed, and forgets everything */
#define mayBeKilled (kills < KILLS)

inline kill(g) {
    kills++; gateway[g].epoch = 0; gateway[g].key = 0; gateway[g].inFlight = 0; gateway[g].isPaused = false;
    outcome = KILLED
}

inline transaction(g, me, value) {
    outcome = UNKNOWN;
    /* BEGIN, and SELECT … FOR UPDATE */
    atomic {
#ifdef NO_LOCK
        mine = connection; size = server[primary].size; epoch = server[primary].epoch
#else
        holder == 0 -> holder = me; mine = connection; size = server[primary].size; epoch = server[primary].epoch
#endif
    };
    if
#ifndef NO_EPOCH
    :: epoch != gateway[g].epoch && mine == connection -> outcome = FENCED;
        atomic { if :: holder == me && mine == connection -> holder = 0 :: else fi }
    :: epoch == gateway[g].epoch && mine == connection ->
#else
    :: mine == connection ->
#endif
        /* COMMIT on the disk of the primary */
        if
        :: atomic {
            mine == connection ->
            /* Properties: a log has one writer, and no entry is overwritten. */
            assert(server[primary].epoch == gateway[g].epoch);
            assert(server[primary].size == size);
            if
            :: value < KEY_CHANGE ->
                /* Property: an entry with a key follows the activation of this key, and no later one. */
                readActiveKey(primary); assert(keyOf[value] == activeKey)
            :: else
            fi;
            server[primary].entry[size] = value; server[primary].size = size + 1
           };
#ifndef NO_STANDBY
            /* The commit waits for the standby. */
            if
            :: atomic { mine == connection && server[standby].size > size -> outcome = COMMITTED }
            :: atomic { mine == connection && mayBeKilled -> kill(g); holder = ORPHAN }
            :: mine != connection
            fi;
#else
            outcome = COMMITTED;
#endif
            atomic { if :: holder == me && mine == connection -> holder = 0 :: else fi }
        /* The database rolls the transaction back. */
        :: atomic { mine == connection && mayBeKilled -> kill(g); if :: holder == me -> holder = 0 :: else fi }
        :: mine != connection
        fi
    :: mine != connection
    fi
}

/* A gateway claims the next epoch of the log, and reads the active key from it. */
inline claim(g, me) {
    do
    :: atomic { holder == 0 -> holder = me; mine = connection };
        if
        :: atomic { mine == connection -> server[primary].epoch++; epoch = server[primary].epoch };
            if
            :: atomic {
                mine == connection && server[standby].epoch >= epoch ->
                gateway[g].epoch = epoch; readActiveKey(primary); gateway[g].key = activeKey; holder = 0
               };
                break
            :: mine != connection
            fi
        :: mine != connection
        fi
    od
}

/* After an unknown outcome, the gateway reads from the log what has happened. It believes what its next transaction
   reads, once that transaction has waited for the standby. */
inline follow(g, me) {
    do
    :: atomic { holder == 0 -> holder = me; mine = connection; size = server[primary].size; epoch = server[primary].epoch };
        if
        :: atomic { mine == connection && epoch != gateway[g].epoch -> gateway[g].isFenced = true; holder = 0 }; break
#ifndef NO_PROBE
        :: atomic {
            mine == connection && epoch == gateway[g].epoch && server[standby].size >= size ->
#else
        :: atomic {
            mine == connection && epoch == gateway[g].epoch ->
#endif
            readActiveKey(primary); gateway[g].key = activeKey; holder = 0
           };
            break
        :: mine != connection
        fi
    od
}

/* States that differ only in variables that are not used any more are one state. */
inline forget() { d_step { id = 0; key = 0; outcome = 0; mine = 0; size = 0; epoch = 0 } }

/* Answers requests, one after the other. */
proctype Requests(byte g) {
    byte id, key, outcome, mine, size, epoch;
    do
    :: gateway[g].isFenced || requests == REQUESTS -> break
    :: gateway[g].epoch == 0 -> claim(g, _pid); forget()
    :: atomic { gateway[g].epoch > 0 && !gateway[g].isPaused && mayBeKilled -> kill(g); outcome = 0 }
    /* A request selects its key. It waits while the key changes. */
    :: atomic {
        requests < REQUESTS && gateway[g].epoch > 0 && !gateway[g].isPaused && !gateway[g].isFenced ->
        requests++; id = requests; gateway[g].inFlight++; key = gateway[g].key
       };
        if
        :: keyOf[id] = key;   /* The signature is made, and not released. */
#ifdef RELEASE_FIRST
            released[id] = true;
#endif
            transaction(g, _pid, id);
            if
            :: outcome == COMMITTED -> atomic { released[id] = true; find(primary, id); assert(isThere) }
            :: outcome == FENCED -> gateway[g].isFenced = true
            :: outcome == UNKNOWN -> follow(g, _pid)   /* The request is refused. */
            :: outcome == KILLED
            fi
        :: outcome = UNKNOWN    /* The signer has crashed. The request is refused. */
        fi;
        atomic { if :: outcome != KILLED -> gateway[g].inFlight-- :: else fi; forget() }
    od
}

/* Changes the active key: entries with the old key precede the change, and entries with the new key follow it. */
proctype Administration(byte g) {
    byte id, key, outcome, mine, size, epoch;
    do
    :: atomic { changes < CHANGES && gateway[g].epoch > 0 && !gateway[g].isFenced -> changes++; gateway[g].isPaused = true };
        /* Requests in progress get durable entries first. The order is lost if the gateway is killed meanwhile. */
        if
#ifndef NO_DRAIN
        :: atomic { gateway[g].isPaused && gateway[g].inFlight == 0 -> key = 1 - gateway[g].key };
#else
        :: atomic { gateway[g].isPaused -> key = 1 - gateway[g].key };
#endif
            transaction(g, _pid, KEY_CHANGE + key);
            if
            :: outcome == COMMITTED -> gateway[g].key = key
            :: outcome == FENCED -> gateway[g].isFenced = true
            :: outcome == UNKNOWN -> follow(g, _pid)
            :: outcome == KILLED
            fi;
            forget();
            gateway[g].isPaused = false
        :: !gateway[g].isPaused
        fi
    :: changes == CHANGES || gateway[g].isFenced -> break
    od
}

init {
    atomic { run Requests(0); run Administration(0); run Requests(1); run Administration(1) }
}
