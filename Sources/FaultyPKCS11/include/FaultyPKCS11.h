// A PKCS #11 module for tests, and for nothing else: it forwards to another one and misbehaves by a script.
//
//   FAULTY_PKCS11_TARGET  the module behind it
//   FAULTY_PKCS11_RULES   a file of rules, read again whenever it changes; without it nothing is wrong
//   FAULTY_PKCS11_CALLS   a file that gets one line for each call, with the function's name; one such as
//                         `fault C_Sign` more for each answer that a rule made up; and one such as
//                         `login user=0x1 pin=given rv=0x0` more for each C_Login
//
// A rule is a line, such as `C_Sign from=3 to=3 rv=0x30`. Calls of a function are counted from 1 since the rules were
// read; a rule holds from `from` (1) to `to` (for ever), and with `mechanism=NUMBER` or `attribute=NUMBER` only for calls
// with that mechanism, or with that attribute in their template. What it does:
//
//   rv=NUMBER        answer this instead of calling
//   delay=MS         wait first
//   hang=FILE        wait until the file exists
//   print=TEXT       write a line to standard output first
//   as=NUMBER        use this mechanism in place of the caller's
//   split            C_UnwrapKey: do CKM_RSA_AES_KEY_WRAP by two calls
//   nulpad           C_GetTokenInfo: pad the label with NUL
//   label=TEXT       C_SignInit, C_Sign, C_Login, C_GetAttributeValue: count and change only calls for the key with this label
//   length=NUMBER    answer CKR_OK with this length or count (C_Sign, C_FindObjects, C_GetSlotList, C_WrapKey,
//                    C_GetMechanismList, C_GetAttributeValue)
//   readonly         C_OpenSession: `rv` for read-only sessions alone
//   null             leave the function out of the function list, when the module is loaded the next time;
//                    C_GetFunctionList: answer CKR_OK, and give a list that is NULL
//   exit=STATUS      call exit(STATUS)
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
