#include "FaultyPKCS11.h"
#include "rules.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CK_FUNCTION_LIST *target;

#define ENTER(name)                         \
    struct fault fault = faulty_enter(name); \
    if (fault.has_rv) return fault.rv

static CK_RV initialize(void *arguments) {
    ENTER("C_Initialize");
    return target->C_Initialize(arguments);
}

static CK_RV finalize(void *reserved) {
    ENTER("C_Finalize");
    return target->C_Finalize(reserved);
}

static CK_RV get_slot_list(CK_BBOOL present, CK_SLOT_ID *slots, CK_ULONG *count) {
    ENTER("C_GetSlotList");
    return target->C_GetSlotList(present, slots, count);
}

static CK_RV get_token_info(CK_SLOT_ID slot, CK_TOKEN_INFO *info) {
    ENTER("C_GetTokenInfo");
    CK_RV rv = target->C_GetTokenInfo(slot, info);
    if (rv != CKR_OK) return rv;
    info->flags |= fault.flags;
    if (fault.has_sessions) info->ulMaxSessionCount = fault.sessions;
    return CKR_OK;
}

static CK_RV open_session(CK_SLOT_ID slot, CK_FLAGS flags, void *application, CK_NOTIFY notify, CK_SESSION_HANDLE *session) {
    ENTER("C_OpenSession");
    return target->C_OpenSession(slot, flags, application, notify, session);
}

static CK_RV close_session(CK_SESSION_HANDLE session) {
    ENTER("C_CloseSession");
    return target->C_CloseSession(session);
}

static CK_RV get_session_info(CK_SESSION_HANDLE session, CK_SESSION_INFO *info) {
    ENTER("C_GetSessionInfo");
    return target->C_GetSessionInfo(session, info);
}

static CK_RV login(CK_SESSION_HANDLE session, CK_USER_TYPE user, unsigned char *pin, CK_ULONG length) {
    ENTER("C_Login");
    return target->C_Login(session, user, pin, length);
}

static CK_RV logout(CK_SESSION_HANDLE session) {
    ENTER("C_Logout");
    return target->C_Logout(session);
}

static CK_RV find_objects_init(CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count) {
    ENTER("C_FindObjectsInit");
    return target->C_FindObjectsInit(session, template, count);
}

static CK_RV get_attribute_value(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count) {
    ENTER("C_GetAttributeValue");
    if (!fault.raw_point || count != 1 || template->type != CKA_EC_POINT)
        return target->C_GetAttributeValue(session, object, template, count);
    unsigned char wrapped[256];
    CK_ATTRIBUTE attribute = {CKA_EC_POINT, wrapped, sizeof wrapped};
    CK_RV rv = target->C_GetAttributeValue(session, object, &attribute, 1);
    if (rv != CKR_OK) return rv;
    if (template->pValue) memcpy(template->pValue, wrapped + 2, attribute.ulValueLen - 2);
    template->ulValueLen = attribute.ulValueLen - 2;
    return CKR_OK;
}

static CK_RV sign_init(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
    ENTER("C_SignInit");
    return target->C_SignInit(session, mechanism, key);
}

static CK_RV sign(CK_SESSION_HANDLE session, unsigned char *data, CK_ULONG length, unsigned char *signature, CK_ULONG *signed_length) {
    ENTER("C_Sign");
    CK_RV rv = target->C_Sign(session, data, length, signature, signed_length);
    if (rv != CKR_OK) return rv;
    if (fault.corrupt) signature[10] ^= 1;
    if (fault.shorten) *signed_length -= 1;
    return CKR_OK;
}

static CK_RV get_mechanism_info(CK_SLOT_ID slot, CK_MECHANISM_TYPE mechanism, CK_MECHANISM_INFO *info) {
    ENTER("C_GetMechanismInfo");
    return target->C_GetMechanismInfo(slot, mechanism, info);
}

static CK_RV create_object(CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *object) {
    ENTER("C_CreateObject");
    return target->C_CreateObject(session, template, count, object);
}

static CK_RV destroy_object(CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object) {
    ENTER("C_DestroyObject");
    return target->C_DestroyObject(session, object);
}

static CK_RV generate_key(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *key) {
    ENTER("C_GenerateKey");
    return target->C_GenerateKey(session, mechanism, template, count, key);
}

static CK_RV encrypt_init(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key) {
    ENTER("C_EncryptInit");
    return target->C_EncryptInit(session, mechanism, key);
}

static CK_RV unwrap_key(CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE unwrapping, unsigned char *wrapped, CK_ULONG length, CK_ATTRIBUTE *template, CK_ULONG count, CK_OBJECT_HANDLE *key) {
    ENTER("C_UnwrapKey");
    return target->C_UnwrapKey(session, mechanism, unwrapping, wrapped, length, template, count, key);
}

static CK_FUNCTION_LIST functions;

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
    functions.C_EncryptInit = encrypt_init;
    functions.C_UnwrapKey = unwrap_key;
    *list = &functions;
    return CKR_OK;
}
