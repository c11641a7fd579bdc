#include "FaultyPKCS11.h"
#include "rules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CK_FUNCTION_LIST *target;

#define ENTER_CALL(name, call)                    \
    struct fault fault = faulty_enter(name, call); \
    if (fault.has_rv) return fault.rv
#define ENTER(name) ENTER_CALL(name, NULL)

// As ENTER_CALL; also replaces the caller's mechanism if a rule has `as=`.
#define ENTER_MECHANISM(name, template, count)                                                   \
    const struct call call = {mechanism ? &mechanism->mechanism : NULL, template, count, NULL};    \
    ENTER_CALL(name, &call);                                                                       \
    CK_MECHANISM other = mechanism ? *mechanism : (CK_MECHANISM){0};                               \
    if (fault.has_mechanism) other.mechanism = fault.mechanism;                                    \
    mechanism = &other

// The key of each session's last C_SignInit; the index is the session handle modulo 256.
static struct {
    CK_SESSION_HANDLE session;
    CK_OBJECT_HANDLE key;
} begun[256];

static void begin(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key) {
    begun[session % 256].session = session;
    begun[session % 256].key = key;
}

static CK_OBJECT_HANDLE begun_key(CK_SESSION_HANDLE session) {
    return begun[session % 256].session == session ? begun[session % 256].key : 0;
}

// Writes the key's CKA_LABEL to `label`; an empty string without a key or without a label.
static const char *label_of(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE key, char label[64]) {
    memset(label, 0, 64);
    CK_ATTRIBUTE attribute = {CKA_LABEL, label, 63};
    if (key == 0 || target->C_GetAttributeValue(session, key, &attribute, 1) != CKR_OK) label[0] = 0;
    return label;
}

static CK_RV initialize(void *arguments) {
    ENTER("C_Initialize");
    return target->C_Initialize(arguments);
}

static CK_RV finalize(void *reserved) {
    struct fault fault = faulty_enter("C_Finalize", NULL);
    CK_RV rv = target->C_Finalize(reserved);
    // Finalize the target even if a rule sets the answer. p11-kit never finalizes a module whose C_Initialize returned
    // CKR_CRYPTOKI_ALREADY_INITIALIZED.
    return fault.has_rv ? fault.rv : rv;
}

static CK_RV get_slot_list(CK_BBOOL present, CK_SLOT_ID *slots, CK_ULONG *count) {
    ENTER("C_GetSlotList");
    CK_RV rv = target->C_GetSlotList(present, slots, count);
    if (rv == CKR_OK && fault.has_length) *count = fault.length;
    return rv;
}

static CK_RV get_token_info(CK_SLOT_ID slot, CK_TOKEN_INFO *info) {
    ENTER("C_GetTokenInfo");
    CK_RV rv = target->C_GetTokenInfo(slot, info);
    if (rv != CKR_OK) return rv;
    info->flags |= fault.flags;
    for (int i = sizeof info->label - 1; fault.nul_padding && i >= 0 && info->label[i] == ' '; i--) info->label[i] = 0;
    if (fault.has_sessions) info->ulMaxSessionCount = fault.sessions;
    return CKR_OK;
}

static CK_RV open_session(CK_SLOT_ID slot, CK_FLAGS flags, void *application, CK_NOTIFY notify, CK_SESSION_HANDLE *session) {
    struct fault fault = faulty_enter("C_OpenSession", NULL);
    if (fault.has_rv && !(fault.read_only && (flags & CKF_RW_SESSION))) return fault.rv;
    return target->C_OpenSession(slot, flags, application, notify, session);
}

static CK_RV close_session(CK_SESSION_HANDLE session) {
    ENTER("C_CloseSession");
    return target->C_CloseSession(session);
}

static CK_RV get_session_info(CK_SESSION_HANDLE session, CK_SESSION_INFO *info) {
    struct fault fault = faulty_enter("C_GetSessionInfo", NULL);
    CK_RV rv = fault.has_rv ? fault.rv : target->C_GetSessionInfo(session, info);
    if (rv == CKR_OK) info->state |= fault.flags;
    return rv;
}

static CK_RV login(CK_SESSION_HANDLE session, CK_USER_TYPE user, unsigned char *pin, CK_ULONG length) {
    char label[64];
    const struct call call = {NULL, NULL, 0, label_of(session, begun_key(session), label)};
    struct fault fault = faulty_enter("C_Login", &call);
    // SoftHSM rejects vendor-defined user types.
    CK_USER_TYPE known = user > CKU_CONTEXT_SPECIFIC ? CKU_USER : user;
    CK_RV rv = fault.has_rv ? fault.rv : target->C_Login(session, known, pin, length);
    faulty_note_login(user, pin != NULL, rv);
    return rv;
}

static CK_RV logout(CK_SESSION_HANDLE session) {
    ENTER("C_Logout");
    return target->C_Logout(session);
}

static CK_RV find_objects_init(CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count) {
    ENTER("C_FindObjectsInit");
    return target->C_FindObjectsInit(session, template, count);
}

static CK_RV find_objects(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE *objects, CK_ULONG room, CK_ULONG *count) {
    ENTER("C_FindObjects");
    CK_RV rv = target->C_FindObjects(session, objects, room, count);
    if (rv == CKR_OK && fault.has_length) *count = fault.length;
    return rv;
}

static CK_RV find_objects_final(CK_SESSION_HANDLE session) {
    ENTER("C_FindObjectsFinal");
    return target->C_FindObjectsFinal(session);
}

static CK_RV get_attribute_value(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count) {
    char label[64];
    const struct call call = {NULL, template, count, label_of(session, object, label)};
    ENTER_CALL("C_GetAttributeValue", &call);
    if (!fault.raw_point || count != 1 || template->type != CKA_EC_POINT) {
        CK_RV rv = target->C_GetAttributeValue(session, object, template, count);
        if (rv == CKR_OK && fault.has_length) template->ulValueLen = fault.length;
        return rv;
    }
    unsigned char wrapped[256];
    CK_ATTRIBUTE attribute = {CKA_EC_POINT, wrapped, sizeof wrapped};
    CK_RV rv = target->C_GetAttributeValue(session, object, &attribute, 1);
    if (rv != CKR_OK) return rv;
    if (template->pValue) memcpy(template->pValue, wrapped + 2, attribute.ulValueLen - 2);
    template->ulValueLen = attribute.ulValueLen - 2;
    return CKR_OK;
}

static CK_RV sign_init(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
    char label[64];
    const struct call call = {NULL, NULL, 0, label_of(session, key, label)};
    struct fault fault = faulty_enter("C_SignInit", &call);
    if (fault.has_rv) return fault.rv;
    begin(session, key);
    return target->C_SignInit(session, mechanism, key);
}

static CK_RV sign(CK_SESSION_HANDLE session, unsigned char *data, CK_ULONG length, unsigned char *signature, CK_ULONG *signed_length) {
    char label[64];
    const struct call call = {NULL, NULL, 0, label_of(session, begun_key(session), label)};
    struct fault fault = faulty_enter("C_Sign", &call);
    if (fault.has_rv) {
        // End the target's operation, as every answer except CKR_BUFFER_TOO_SMALL does (PKCS #11 v2.40 §5.11).
        unsigned char unused[512];
        CK_ULONG room = sizeof unused;
        if (fault.rv != CKR_BUFFER_TOO_SMALL) target->C_Sign(session, data, length, unused, &room);
        return fault.rv;
    }
    CK_RV rv = target->C_Sign(session, data, length, signature, signed_length);
    if (rv != CKR_OK) return rv;
    if (fault.corrupt) signature[10] ^= 1;
    if (fault.shorten) *signed_length -= 1;
    if (fault.has_length) *signed_length = fault.length;
    return CKR_OK;
}

static CK_RV get_mechanism_info(CK_SLOT_ID slot, CK_MECHANISM_TYPE mechanism, CK_MECHANISM_INFO *info) {
    const struct call call = {&mechanism, NULL, 0, NULL};
    ENTER_CALL("C_GetMechanismInfo", &call);
    if (fault.has_mechanism) mechanism = fault.mechanism;
    return target->C_GetMechanismInfo(slot, mechanism, info);
}

static CK_RV get_info(CK_INFO *info) {
    ENTER("C_GetInfo");
    return target->C_GetInfo(info);
}

static CK_RV get_slot_info(CK_SLOT_ID slot, CK_SLOT_INFO *info) {
    ENTER("C_GetSlotInfo");
    return target->C_GetSlotInfo(slot, info);
}

static CK_RV get_mechanism_list(CK_SLOT_ID slot, CK_MECHANISM_TYPE *mechanisms, CK_ULONG *count) {
    ENTER("C_GetMechanismList");
    CK_RV rv = target->C_GetMechanismList(slot, mechanisms, count);
    if (rv == CKR_OK && fault.has_length) *count = fault.length;
    return rv;
}

static CK_RV create_object(CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *object) {
    const struct call call = {NULL, template, count, NULL};
    ENTER_CALL("C_CreateObject", &call);
    return target->C_CreateObject(session, template, count, object);
}

static CK_RV destroy_object(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object) {
    ENTER("C_DestroyObject");
    return target->C_DestroyObject(session, object);
}

static CK_RV generate_key(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *key) {
    ENTER_MECHANISM("C_GenerateKey", template, count);
    return target->C_GenerateKey(session, mechanism, template, count, key);
}

static CK_RV encrypt_init(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
    ENTER_MECHANISM("C_EncryptInit", NULL, 0);
    return target->C_EncryptInit(session, mechanism, key);
}

static CK_RV encrypt(CK_SESSION_HANDLE session, unsigned char *data, CK_ULONG length, unsigned char *encrypted, CK_ULONG *encrypted_length) {
    ENTER("C_Encrypt");
    return target->C_Encrypt(session, data, length, encrypted, encrypted_length);
}

static CK_RV wrap_key(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE wrapping, CK_OBJECT_HANDLE key, unsigned char *wrapped, CK_ULONG *length) {
    ENTER("C_WrapKey");
    CK_RV rv = target->C_WrapKey(session, mechanism, wrapping, key, wrapped, length);
    if (rv == CKR_OK && fault.has_length) *length = fault.length;
    return rv;
}

// Does CKM_RSA_AES_KEY_WRAP with two C_UnwrapKey calls, for a module that lacks the mechanism.
static CK_RV unwrap_in_two(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE rsa, unsigned char *wrapped, CK_ULONG length, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *key) {
    struct {
        CK_ULONG bits;
        CK_RSA_PKCS_OAEP_PARAMS *oaep;
    } *parameters = mechanism->pParameter;
    if (mechanism->ulParameterLen != sizeof *parameters || parameters->bits != 256) return CKR_MECHANISM_PARAM_INVALID;
    CK_ATTRIBUTE modulus = {CKA_MODULUS, NULL, 0};
    CK_RV rv = target->C_GetAttributeValue(session, rsa, &modulus, 1);
    if (rv != CKR_OK) return rv;
    if (length <= modulus.ulValueLen) return CKR_WRAPPED_KEY_LEN_RANGE;
    CK_OBJECT_CLASS class = CKO_SECRET_KEY;
    CK_KEY_TYPE type = CKK_AES;
    CK_BBOOL yes = CK_TRUE, no = CK_FALSE;
    CK_ATTRIBUTE transport[] = {{CKA_CLASS, &class, sizeof class}, {CKA_KEY_TYPE, &type, sizeof type}, {CKA_TOKEN, &no, sizeof no}, {CKA_UNWRAP, &yes, sizeof yes}};
    CK_MECHANISM oaep = {CKM_RSA_PKCS_OAEP, parameters->oaep, sizeof *parameters->oaep}, padded = {CKM_AES_KEY_WRAP_PAD, NULL, 0};
    CK_OBJECT_HANDLE aes;
    rv = target->C_UnwrapKey(session, &oaep, rsa, wrapped, modulus.ulValueLen, transport, 4, &aes);
    if (rv != CKR_OK) return rv;
    rv = target->C_UnwrapKey(session, &padded, aes, wrapped + modulus.ulValueLen, length - modulus.ulValueLen, template, count, key);
    target->C_DestroyObject(session, aes);
    return rv;
}

static CK_RV generate_key_pair(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *public, CK_ULONG public_count, CK_ATTRIBUTE *private, CK_ULONG private_count, CK_OBJECT_HANDLE *public_key, CK_OBJECT_HANDLE *private_key) {
    ENTER_MECHANISM("C_GenerateKeyPair", private, private_count);
    return target->C_GenerateKeyPair(session, mechanism, public, public_count, private, private_count, public_key, private_key);
}

static CK_RV unwrap_key(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE unwrapping, unsigned char *wrapped, CK_ULONG length, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *key) {
    ENTER_MECHANISM("C_UnwrapKey", template, count);
    if (fault.split) return unwrap_in_two(session, mechanism, unwrapping, wrapped, length, template, count, key);
    return target->C_UnwrapKey(session, mechanism, unwrapping, wrapped, length, template, count, key);
}

static CK_FUNCTION_LIST functions;

#define LEAVE_OUT(name) if (faulty_leaves_out(#name)) functions.name = NULL

static void leave_out(void) {
    LEAVE_OUT(C_Initialize);
    LEAVE_OUT(C_Finalize);
    LEAVE_OUT(C_GetInfo);
    LEAVE_OUT(C_GetSlotList);
    LEAVE_OUT(C_GetSlotInfo);
    LEAVE_OUT(C_GetTokenInfo);
    LEAVE_OUT(C_GetMechanismList);
    LEAVE_OUT(C_OpenSession);
    LEAVE_OUT(C_CloseSession);
    LEAVE_OUT(C_GetSessionInfo);
    LEAVE_OUT(C_Login);
    LEAVE_OUT(C_FindObjectsInit);
    LEAVE_OUT(C_FindObjects);
    LEAVE_OUT(C_FindObjectsFinal);
    LEAVE_OUT(C_GetAttributeValue);
    LEAVE_OUT(C_SignInit);
    LEAVE_OUT(C_Sign);
}

__attribute__((visibility("default"))) CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list) {
    if (!target) {
        const char *path = getenv("FAULTY_PKCS11_TARGET");
        void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (!library) {
            fprintf(stderr, "FaultyPKCS11: FAULTY_PKCS11_TARGET must be the path of a module\n");
            return CKR_GENERAL_ERROR;
        }
        CK_C_GetFunctionList get = (CK_C_GetFunctionList)dlsym(library, "C_GetFunctionList");
        if (!get || get(&target) != CKR_OK) return CKR_GENERAL_ERROR;
    }
    functions = *target;
    functions.C_GetFunctionList = C_GetFunctionList;
    functions.C_Initialize = initialize;
    functions.C_Finalize = finalize;
    functions.C_GetSlotList = get_slot_list;
    functions.C_GetTokenInfo = get_token_info;
    functions.C_OpenSession = open_session;
    functions.C_CloseSession = close_session;
    functions.C_GetSessionInfo = get_session_info;
    functions.C_Login = login;
    functions.C_Logout = logout;
    functions.C_FindObjectsInit = find_objects_init;
    functions.C_GetAttributeValue = get_attribute_value;
    functions.C_SignInit = sign_init;
    functions.C_Sign = sign;
    functions.C_GetMechanismInfo = get_mechanism_info;
    functions.C_CreateObject = create_object;
    functions.C_DestroyObject = destroy_object;
    functions.C_GenerateKey = generate_key;
    functions.C_GenerateKeyPair = generate_key_pair;
    functions.C_EncryptInit = encrypt_init;
    functions.C_UnwrapKey = unwrap_key;
    functions.C_FindObjects = find_objects;
    functions.C_FindObjectsFinal = find_objects_final;
    functions.C_GetInfo = get_info;
    functions.C_GetSlotInfo = get_slot_info;
    functions.C_GetMechanismList = get_mechanism_list;
    functions.C_Encrypt = encrypt;
    functions.C_WrapKey = wrap_key;
    leave_out();
    *list = faulty_leaves_out("C_GetFunctionList") ? NULL : &functions;
    return CKR_OK;
}
