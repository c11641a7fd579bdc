// libcrypto of OpenSSL 3.0. Swift imports no function-like macros, so the necessary ones are functions here.
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

/// A key pair on P-256 (`EVP_PKEY_fromdata`), or NULL. Intermediate parameters are on the secure heap if `scalar` is.
/// In C, because libcrypto keeps the addresses of the parameter names, and a Swift string has no stable address.
static inline EVP_PKEY *privyseal_p256_key(const BIGNUM *scalar, const unsigned char *point, size_t point_length) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = NULL;
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (builder != NULL && context != NULL
        && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, SN_X9_62_prime256v1, 0) == 1
        && OSSL_PARAM_BLD_push_BN_pad(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar, 32) == 1
        && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_length) == 1
        && (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL
        && EVP_PKEY_fromdata_init(context) == 1
        && EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, parameters) != 1) {
        key = NULL;
    }
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    return key;
}

/// Clears this thread's error queue, and returns whether one error reported an unsupported algorithm.
static inline int privyseal_take_unsupported(void) {
    int is_unsupported = 0;
    unsigned long error;
    while ((error = ERR_get_error()) != 0) {
        int reason = ERR_GET_REASON(error);
        is_unsupported |= reason == ERR_R_UNSUPPORTED || reason == EVP_R_UNKNOWN_CIPHER
            || reason == EVP_R_UNSUPPORTED_CIPHER || reason == EVP_R_UNSUPPORTED_PRF;
    }
    return is_unsupported;
}

/// `OPENSSL_secure_malloc`: memory that is locked and left out of core dumps, if the secure heap exists.
static inline void *privyseal_secure_malloc(size_t count) {
    return OPENSSL_secure_malloc(count);
}

/// `OPENSSL_secure_clear_free`: wipes and frees the memory.
static inline void privyseal_secure_clear_free(void *pointer, size_t count) {
    OPENSSL_secure_clear_free(pointer, count);
}

#endif
