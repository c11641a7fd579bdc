// A PKCS #11 module for tests only: it forwards calls to another module and injects faults according to rules.
//
//   FAULTY_PKCS11_TARGET  path of the module that receives the calls
//   FAULTY_PKCS11_RULES   path of the file of rules, read again when it changes; without it there are no faults
//   FAULTY_PKCS11_CALLS   path of a file that gets one line per call, with the function's name; another line such as
//                         `fault C_Sign` for each answer that a rule sets; and another line such as
//                         `login user=0x1 pin=given rv=0x0` for each C_Login
//   FAULTY_PKCS11_ATTEMPTS  path of a file that gets one line per action below, such as `C_Sign try=socket:inet 1`: the
//                         function, the action, and 0 or an errno. Actions that may not return write a line with `-`
//                         first
//
// A program that restricts its access to files must have access to the directories of these files: the rules are a new
// file after each atomic replacement.
//
// A rule is one line, such as `C_Sign from=3 to=3 rv=0x30`. Each rule counts the calls that it matches, from 1 since
// the file was read. It applies to calls `from` (default 1) to `to` (default: no end). With `mechanism=NUMBER` or
// `attribute=NUMBER`, it matches only calls with that mechanism, or with that attribute in their template. Effects:
//
//   rv=NUMBER        return this value instead of the target's
//   delay=MS         wait first
//   hang=FILE        wait until the file exists
//   print=TEXT       write a line to standard output first
//   as=NUMBER        replace the caller's mechanism with this one
//   split            C_UnwrapKey: do CKM_RSA_AES_KEY_WRAP with two calls
//   nulpad           C_GetTokenInfo: pad the label with NUL
//   label=TEXT       C_SignInit, C_Sign, C_Login, C_GetAttributeValue: match only calls for the key with this label
//   length=NUMBER    return CKR_OK with this length or count (C_Sign, C_FindObjects, C_GetSlotList, C_WrapKey,
//                    C_GetMechanismList, C_GetAttributeValue)
//   readonly         C_OpenSession: apply `rv` only to read-only sessions
//   null             set the function's pointer to NULL the next time the module is loaded;
//                    C_GetFunctionList: return CKR_OK and a list that is NULL
//   exit=STATUS      call exit(STATUS)
//   corrupt          C_Sign: flip one bit of the signature
//   short            C_Sign: give one byte less
//   rawpoint         C_GetAttributeValue: CKA_EC_POINT as 65 bytes, without its OCTET STRING
//   flags=NUMBER     C_GetTokenInfo: set these flags as well
//   sessions=NUMBER  C_GetTokenInfo: this ulMaxSessionCount
//
// Actions of a hostile or broken library, up to eight for a call. They happen in the order of the rules, before the
// call is forwarded:
//
//   segv             write through a null pointer
//   bus              read a mapping beyond the end of its file
//   abort            call abort(3)
//   kill             send SIGKILL to the own process
//   stack            recurse without end
//   heap             write beyond a block of the heap, and free it; glibc detects it and aborts
//   _exit=STATUS     call _exit(2)
//   hang             wait without end, even if the rules change
//   leak             allocate and write memory until an allocation fails; leak=MIB: at most that much
//   write-descriptors  write a line to each of the descriptors 0 to 63
//   close-descriptors  close the descriptors 3 to 1023
//   ignore-term      ignore SIGTERM
//   umask            set the umask to 0
//   cwd              change the working directory to /
//   handlers         install handlers for SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGUSR1 and SIGUSR2
//   try=ATTEMPT      an attempt of SandboxAttempts.h, such as socket:inet, read:PATH, trace-parent, shell, fork:30 (a
//                    child process that lives for 30 seconds)
#ifndef FAULTY_PKCS11_H
#define FAULTY_PKCS11_H

#include <p11-kit/pkcs11.h>

CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR list);

#endif
