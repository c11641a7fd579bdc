// A PKCS #11 module for tests, and for nothing else: it forwards to another one and misbehaves by a script.
//
//   FAULTY_PKCS11_TARGET  the module behind it
//   FAULTY_PKCS11_RULES   a file of rules, read again whenever it changes; without it nothing is wrong
//   FAULTY_PKCS11_CALLS   a file that gets one line for each call, with the function's name
//
// A rule is a line, such as `C_Sign from=3 to=3 rv=0x30`. Calls of a function are counted from 1 since the rules were
// read; a rule holds from `from` (1) to `to` (for ever). What it does:
//
//   rv=NUMBER        answer this instead of calling
//   delay=MS         wait first
//   hang=FILE        wait until the file exists
//   corrupt          C_Sign: flip one bit of the signature
//   short            C_Sign: give one byte less
//   rawpoint         C_GetAttributeValue: CKA_EC_POINT as 65 bytes, without its OCTET STRING
//   flags=NUMBER     C_GetTokenInfo: set these flags as well
//   sessions=NUMBER  C_GetTokenInfo: this ulMaxSessionCount
#ifndef FAULTY_PKCS11_H
#define FAULTY_PKCS11_H

#include <p11-kit/pkcs11.h>

CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR list);

#endif
