// OpenSSL 3.0's libcrypto. Function-like macros do not reach Swift; the few that we need are functions here.
#ifndef PRIVYSEAL_CLIBCRYPTO_SHIM_H
#define PRIVYSEAL_CLIBCRYPTO_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

/// `EVP_PKEY_KEYPAIR`
static const int privyseal_pkey_keypair = EVP_PKEY_KEYPAIR;

/// `OPENSSL_secure_malloc`: memory that is locked and left out of core dumps, once the secure heap is there.
static inline void *privyseal_secure_malloc(size_t count) {
    return OPENSSL_secure_malloc(count);
}

/// `OPENSSL_secure_clear_free`: wipes, then gives back.
static inline void privyseal_secure_clear_free(void *pointer, size_t count) {
    OPENSSL_secure_clear_free(pointer, count);
}

#endif
