/* Rotation by acknowledgement in a fleet of gateways that share one register of keys: docs/model.md explains this model.

   Gateway A is modelled in detail, and answers requests. The other gateways are modelled together, in any number: an
   order, an answer, a decision, a stop or a fence may come from any of them at any time. Every process may pause before
   each step for any time, as if it were stopped (SIGSTOP) or could not reach the database. The macros remove one guard
   each; then a property must fail. */

#define ACTIVATIONS 2

/* ---- Times, in ticks. A time that is over, and an age beyond its limit, are not counted further. ---- */

#define SHORT 1    /* during a change, a gateway signs for less than this time after it began to read its view */
#ifndef LONG
#define LONG 3     /* the same at other times */
#endif
#define DELAY 2    /* from the computation of a decision to its effect */
#define DRAIN 1    /* after this time, a read makes the change apply even if requests still use the old key */
#define GRACE (DRAIN + SHORT)
#define RENEWAL 1  /* a read need not renew the lease for this time after the last renewal */
#ifdef SHORT_LEASE
#define LEASE 1    /* how long a lease is valid */
#else
#define LEASE (LONG + RENEWAL)
#endif

#define max(a, b) ((a) > (b) -> (a) : (b))

/* ---- The database ---- */

/* The register is one byte: the number of the active key (0 or 1), the set of stopped keys, whether an activation is
   open, the number of activations so far, and the number of the last decided one; 0 if none is, or if it was undone. A
   key is active in the register from the decision on, and in effect later. */
#define value(active, stopped, open, count, decided) \
    ((active) | ((stopped) << 1) | ((open) << 3) | ((count) << 4) | ((decided) << 6))
#define active(r) ((r) & 1)
#define stopped(r) (((r) >> 1) & 3)
#define isStopped(r, k) (((r) >> (1 + (k))) & 1)
#define isOpen(r) (((r) >> 3) & 1)
#define count(r) (((r) >> 4) & 3)
#define decided(r) ((r) >> 6)
#define NONE 255

byte keys = 0;   /* the register */
/* The time until the effect that each decision states. */
byte stated[ACTIVATIONS + 1];
/* Whether the open activation names A, and whether it waits for another gateway. */
bool isNamed, waitsForOther;

/* The row of A: the age of its lease, whether A has left or was fenced, and whether it has answered. */
byte lease = LEASE;
bool isGone = true, hasAnswered;
/* The epoch of A's log is later than that of the process that runs. */
bool isFenced;

/* ---- Gateway A: it loses all of this in a crash ---- */

bool isUp;
byte view = NONE;   /* the register as A knows it */
byte age = LONG;    /* the time since the read of the view began */
bool isShort;       /* the limit of the age is SHORT */
bool isPending;     /* requests do not get the key of the last decision yet */
bool isLate;        /* A saw the pending decision too late for the time that it states */
byte due;           /* the time until requests may get its key */
bool isReading;
byte got, gotAge;   /* the register that the read has got, and the time since it began */
bool inFlight;      /* a request is in progress */

/* ---- What no gateway knows ---- */

bit keyInEffect = 0;
byte effect;        /* the time until the last decision takes effect */
byte since = GRACE; /* the time since the key in effect changed */
byte planned;       /* the time until the effect of a decision that is not written yet */
byte stops;         /* the set of keys that administrators have stopped */
bool hasLostActive; /* an administrator has stopped the active key, and no other key became active */
/* The properties. */
bool isInOrder = true, isInTime = true, isUsable = true, hasActiveKey = true, keepsStops = true;

/* ---- The guards ---- */

#ifdef NO_SHORT_LIMIT
#define isFresh (age < LONG)
#else
#define isFresh (age < (isShort -> SHORT : LONG))
#endif

#ifdef NO_LIMIT_UNTIL_SWITCH
#define isChanging (isOpen(view) || (isPending && due > 0))
#else
#define isChanging (isOpen(view) || isPending)
#endif

#ifdef NO_LATE_REFUSAL
#define isRefused false
#else
#define isRefused (isPending && isLate)
#endif

#ifdef NO_CLOCK_CHECK
#define mustWait (isPending && isLate)
#else
#define mustWait (isPending && (isLate || due == 0))
#endif

/* The key that requests get. */
#define keyInUse (isPending -> 1 - active(view) : active(view))
#define mayUse (isFresh && keyInUse == key && !isStopped(view, key) && !isRefused)

#ifdef NO_SECOND_CHECK
#define mayRelease true
#else
#define mayRelease mayUse
#endif

#ifdef NO_EPOCH
#define mayRecord true
#else
#define mayRecord (!isFenced)
#endif

#ifdef NO_JOINERS
#define isWaitedFor isNamed
#else
#define isWaitedFor (isNamed || lease < LEASE)
#endif
#ifdef NO_ANSWERS
#define isComplete true
#else
#define isComplete ((isGone || hasAnswered || !isWaitedFor) && !waitsForOther)
#endif

#ifdef NO_RECHECK
#define mayDecide true
#else
#define mayDecide (stopped(keys) == 0)
#endif

#ifdef REFUSE_LATE
#define isTooLate (planned < SHORT)
#else
#define isTooLate false
#endif
#ifdef NO_BASIS
#define mayWrite true
#else
#define mayWrite (keys == basis && !isTooLate)
#endif

/* A gateway that gets an order knows the last decision. Its own requests get the new key after the effect. */
#ifdef NO_PENDING_CHECK
#define mayOrder (!isOpen(keys) && count(keys) < ACTIVATIONS && stopped(keys) == 0)
#else
#define mayOrder (!isOpen(keys) && count(keys) < ACTIVATIONS && stopped(keys) == 0 && effect == 0)
#endif

/* A fenced gateway may have recorded its signature before. */
#ifdef FENCED_TOO
#define isExempt false
#else
#define isExempt isFenced
#endif

/* ---- Parts of steps ---- */

/* A takes over a value of the register. */
inline learn(r) {
    if
    :: decided(r) != 0 && decided(r) != decided(view) ->
        if
#ifdef NO_HOLD
        :: isPending = (stated[decided(r)] > 0); due = stated[decided(r)]; isLate = false
#else
        /* A gateway that does not know the decision yet may sign with the old key for the time SHORT. */
        :: isPending = true; due = max(stated[decided(r)], SHORT); isLate = (stated[decided(r)] < SHORT)
        /* The change was long ago. */
#ifdef SETTLED
        :: view == NONE && stated[decided(r)] == 0 -> isPending = false; due = 0; isLate = false
#else
        :: effect == 0 -> isPending = false; due = 0; isLate = false
#endif
#endif
        fi
    :: decided(r) == 0 -> isPending = false; due = 0; isLate = false
    :: else
    fi;
    view = r;
    if :: isReading -> got = r :: else fi
}

/* A gateway that writes the register knows the new value. It may be A. */
inline learnOwnWrite() { if :: view != NONE -> learn(keys) :: skip fi }

inline switchKey() { isPending = false; isLate = false; due = 0 }

inline closeActivation() { isNamed = false; waitsForOther = false; hasAnswered = false }

inline checkRegister() {
#ifndef SKIP_6
    keepsStops = (stops & ~stopped(keys)) == 0;
    assert(keepsStops);     /* Property 6 */
#endif
    hasActiveKey = hasLostActive || !((stops >> active(keys)) & 1);
    assert(hasActiveKey)    /* Property 4 */
}

inline forget() {
    isUp = false; view = NONE; age = LONG; isShort = false; switchKey();
    isReading = false; got = 0; gotAge = 0; inFlight = false
}

/* ---- Processes ---- */

active proctype Clock() {
    do
    :: d_step {
        if :: age < LONG -> age++ :: else fi;
        if :: isReading && gotAge < LONG -> gotAge++ :: else fi;
        if :: lease < LEASE -> lease++ :: else fi;
        if :: due > 0 -> due-- :: else fi;
        if :: planned > 0 -> planned-- :: else fi;
        if :: stated[1] > 0 -> stated[1]-- :: else fi;
        if :: stated[2] > 0 -> stated[2]-- :: else fi;
        if :: since < GRACE -> since++ :: else fi;
        if
        :: effect > 0 -> effect--; if :: effect == 0 -> keyInEffect = active(keys); since = 0 :: else fi
        :: else
        fi
       }
    od
}

active proctype GatewayA() {
    do
    /* It starts: its log gets the next epoch, and its row a new lease. */
    :: atomic { !isUp -> isUp = true; isFenced = false; isGone = false; lease = 0; hasAnswered = false }
    /* It crashes. */
    :: atomic { isUp -> forget() }
    /* It shuts down. */
    :: atomic { isUp && !inFlight -> forget(); isGone = true; lease = LEASE }

    /* It begins to read the register. A fenced gateway notices that it is fenced when it renews its lease. */
    :: atomic {
        isUp && !isReading && (!isFenced || lease <= RENEWAL) -> isReading = true; got = keys; gotAge = 0;
        if :: !isFenced -> lease = 0 :: lease <= RENEWAL fi
       }
    /* It uses what it has read. */
    :: atomic {
        isReading ->
        learn(got);
#ifdef NO_READ_BEGIN
        age = 0;
#else
        age = gotAge;
#endif
        isReading = false; got = 0; gotAge = 0;
#ifndef NO_OVERDUE
        if :: isPending && due == 0 && since > DRAIN -> switchKey() :: else fi;
#endif
        isShort = isChanging
       }

    /* It answers the open activation. */
    :: atomic {
        view != NONE && !isFenced && isOpen(view) && isOpen(keys) && count(view) == count(keys) && !hasAnswered ->
#ifndef NO_LIMIT_BEFORE_ANSWER
        isShort = true;
#endif
        hasAnswered = true; lease = 0
       }

    /* Requests get the new key. This may be at any time after the change is due, because it waits for requests in
       progress, but with a timeout. */
    :: atomic { isPending && due == 0 -> switchKey() }
    od
}

/* Requests to A, one after the other. */
active proctype Requests() {
    bit key;
    bool wasInEffect, isAfterFence, hasRotatedTwice;
    do
    /* A request begins, and selects its key. */
    :: atomic {
        view != NONE && !isStopped(view, keyInUse) && !mustWait ->
        inFlight = true; key = keyInUse; wasInEffect = (key == keyInEffect)
       };
        if
        /* The signature is made and recorded. */
        :: atomic { inFlight && mayUse && mayRecord -> isAfterFence = isFenced };
            if
            /* It is released. */
            :: atomic {
                inFlight && mayRelease ->
                isInOrder = key == keyInEffect || wasInEffect || ((stops >> key) & 1);
                assert(isInOrder);        /* Property 1 */
#ifndef SKIP_2
                isInTime = key == keyInEffect || since < GRACE || isExempt || ((stops >> key) & 1);
                assert(isInTime);         /* Property 2 */
#endif
#ifndef SKIP_3
                isUsable = keyInUse == key && !isStopped(view, key);
                assert(isUsable);         /* Property 3 */
#endif
                assert(!isAfterFence);    /* Property 5 */
#ifdef REACHES
                hasRotatedTwice = (decided(view) == 2 && !isPending);
                assert(!hasRotatedTwice)
#endif
               }
            :: skip
            fi
        /* The request is refused, or A has crashed. */
        :: skip
        fi;
        atomic { inFlight = false; key = 0; wasInEffect = false; isAfterFence = false }
    od
}

/* Orders, answers and decisions of any gateway. Each may be given up between its steps, as if the gateway crashed. */
active proctype Activation() {
    byte basis;
    bool isLive;
    do
    /* The gateway that gets an order has read the leases. */
    :: atomic { mayOrder -> isLive = (!isGone && lease < LEASE) };
        if
        /* It writes the activation. */
        :: atomic {
            mayOrder -> keys = value(active(keys), 0, 1, count(keys) + 1, decided(keys));
            isNamed = isLive;
            if :: waitsForOther = true :: skip fi;
            learnOwnWrite()
           }
        :: skip
        fi;
        isLive = false

    /* The last other gateway has answered, shut down, or was fenced. */
    :: waitsForOther -> waitsForOther = false

    /* A gateway has read all answers. It computes the decision from the register that it knows. */
    :: atomic { isOpen(keys) && isComplete && mayDecide -> basis = keys; planned = DELAY };
        if
        /* It writes the decision. */
        :: atomic {
            mayWrite ->
            keys = value(1 - active(basis), stopped(basis), 0, count(basis), count(basis));
            stated[count(basis)] = planned;
#ifdef RECORDED_TIME
            effect = planned;
            if :: effect == 0 -> keyInEffect = active(keys); since = 0 :: else fi;
#else
            effect = max(planned, SHORT);
#endif
            closeActivation();
            checkRegister();
            learnOwnWrite()
           }
        :: skip
        fi;
        atomic { planned = 0; basis = 0 }

    /* A gateway cannot use the key, or the key was stopped. */
    :: atomic {
        isOpen(keys) -> keys = value(active(keys), stopped(keys), 0, count(keys), decided(keys));
        closeActivation();
        learnOwnWrite()
       }
    od
}

active proctype Administrator() {
    bit key;
    do
    /* Stops a key on any gateway. A write that was superseded is repeated, so it is one step here. */
    :: atomic {
        if :: !isStopped(keys, 0) -> key = 0 :: !isStopped(keys, 1) -> key = 1 fi;
        stops = stops | (1 << key);
        if
        /* On this gateway, the activation of the key does not apply to requests yet: it is undone. */
        :: key == active(keys) && decided(keys) != 0 && !isStopped(keys, 1 - key) ->
            keys = value(1 - key, 1 << key, isOpen(keys), count(keys), 0);
            effect = 0;
            if :: keyInEffect == key -> keyInEffect = 1 - key; since = 0 :: else fi
        :: key != active(keys) || decided(keys) == 0 || isStopped(keys, 1 - key) || effect == 0 ->
            hasLostActive = (hasLostActive || key == active(keys));
            keys = value(active(keys), stopped(keys) | (1 << key), isOpen(keys), count(keys), decided(keys))
        fi;
        checkRegister();
        learnOwnWrite();
        key = 0
       }
    /* Fences A. */
    :: atomic { !isGone -> isGone = true; isFenced = isUp }
    od
}
