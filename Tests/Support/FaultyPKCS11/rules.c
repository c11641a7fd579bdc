#include "rules.h"
#include "actions.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct rule {
    char function[48], label[64];
    unsigned long from, to, calls, mechanism, attribute;
    bool for_mechanism, for_attribute, leaves_out;
    struct fault fault;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[64];
static int rule_count;
static struct stat read_at;

static void read_word(struct rule *rule, const char *word) {
    struct fault *fault = &rule->fault;
    const char *value = strchr(word, '=');
    unsigned long number = value ? strtoul(value + 1, NULL, 0) : 0;
    if (!strncmp(word, "from=", 5)) rule->from = number;
    else if (!strncmp(word, "to=", 3)) rule->to = number;
    else if (!strncmp(word, "rv=", 3)) fault->has_rv = true, fault->rv = number;
    else if (!strncmp(word, "delay=", 6)) fault->delay = number;
    else if (!strncmp(word, "hang=", 5)) snprintf(fault->hang, sizeof fault->hang, "%s", value + 1);
    else if (!strncmp(word, "label=", 6)) snprintf(rule->label, sizeof rule->label, "%s", value + 1);
    else if (!strncmp(word, "length=", 7)) fault->has_length = true, fault->length = number;
    else if (!strncmp(word, "exit=", 5)) fault->exits = true, fault->status = (int)number;
    else if (!strcmp(word, "readonly")) fault->read_only = true;
    else if (!strcmp(word, "null")) rule->leaves_out = true;
    else if (!strncmp(word, "flags=", 6)) fault->flags = number;
    else if (!strncmp(word, "sessions=", 9)) fault->has_sessions = true, fault->sessions = number;
    else if (!strncmp(word, "mechanism=", 10)) rule->for_mechanism = true, rule->mechanism = number;
    else if (!strncmp(word, "attribute=", 10)) rule->for_attribute = true, rule->attribute = number;
    else if (!strncmp(word, "as=", 3)) fault->has_mechanism = true, fault->mechanism = number;
    else if (!strncmp(word, "print=", 6)) snprintf(fault->text, sizeof fault->text, "%s", value + 1);
    else if (!strcmp(word, "nulpad")) fault->nul_padding = true;
    else if (!strcmp(word, "split")) fault->split = true;
    else if (!strcmp(word, "corrupt")) fault->corrupt = true;
    else if (!strcmp(word, "short")) fault->shorten = true;
    else if (!strcmp(word, "rawpoint")) fault->raw_point = true;
    else if (faulty_is_action(word) && fault->action_count < 8 && strlen(word) < sizeof fault->actions[0])
        strcpy(fault->actions[fault->action_count++], word);
    else {
        // With a misspelt rule, a test would pass without testing anything.
        fprintf(stderr, "FaultyPKCS11: no such rule: %s\n", word);
        abort();
    }
}

static void read_rules(void) {
    const char *path = getenv("FAULTY_PKCS11_RULES");
    struct stat now;
    if (!path || stat(path, &now) != 0) {
        rule_count = 0;
        memset(&read_at, 0, sizeof read_at);
        return;
    }
    if (now.st_ino == read_at.st_ino && now.st_size == read_at.st_size &&
        now.st_mtim.tv_sec == read_at.st_mtim.tv_sec && now.st_mtim.tv_nsec == read_at.st_mtim.tv_nsec)
        return;
    read_at = now;
    rule_count = 0;
    FILE *file = fopen(path, "r");
    if (!file) return;
    char line[2048];
    while (fgets(line, sizeof line, file) && rule_count < 64) {
        char *rest = NULL;
        char *word = strtok_r(line, " \t\n", &rest);
        if (!word || *word == '#') continue;
        struct rule *rule = &rules[rule_count++];
        memset(rule, 0, sizeof *rule);
        snprintf(rule->function, sizeof rule->function, "%s", word);
        rule->from = 1;
        rule->to = ~0ul;
        while ((word = strtok_r(NULL, " \t\n", &rest))) read_word(rule, word);
    }
    fclose(file);
}

static void note_call(const char *function) {
    const char *path = getenv("FAULTY_PKCS11_CALLS");
    if (!path) return;
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return;
    char line[96];
    int length = snprintf(line, sizeof line, "%s\n", function);
    if (write(file, line, (size_t)length) != length) abort();
    close(file);
}

static void merge(struct fault *all, const struct fault *one) {
    if (one->has_rv) all->has_rv = true, all->rv = one->rv;
    if (one->has_sessions) all->has_sessions = true, all->sessions = one->sessions;
    if (one->has_length) all->has_length = true, all->length = one->length;
    if (one->exits) all->exits = true, all->status = one->status;
    all->read_only |= one->read_only;
    if (one->delay) all->delay = one->delay;
    if (one->hang[0]) memcpy(all->hang, one->hang, sizeof all->hang);
    if (one->has_mechanism) all->has_mechanism = true, all->mechanism = one->mechanism;
    if (one->text[0]) memcpy(all->text, one->text, sizeof all->text);
    all->nul_padding |= one->nul_padding;
    all->split |= one->split;
    all->flags |= one->flags;
    all->corrupt |= one->corrupt;
    all->shorten |= one->shorten;
    all->raw_point |= one->raw_point;
    for (int i = 0; i < one->action_count && all->action_count < 8; i++)
        memcpy(all->actions[all->action_count++], one->actions[i], sizeof one->actions[i]);
}

static void wait_ms(unsigned long ms) {
    struct timespec time = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static bool is_meant(const struct rule *rule, const struct call *call) {
    if (rule->for_mechanism && (!call || !call->mechanism || *call->mechanism != rule->mechanism)) return false;
    if (rule->label[0] && (!call || !call->label || strcmp(rule->label, call->label) != 0)) return false;
    if (!rule->for_attribute) return true;
    for (unsigned long i = 0; call && i < call->attribute_count; i++)
        if (call->attributes[i].type == rule->attribute) return true;
    return false;
}

struct fault faulty_enter(const char *function, const struct call *call) {
    struct fault fault;
    memset(&fault, 0, sizeof fault);
    pthread_mutex_lock(&lock);
    read_rules();
    note_call(function);
    for (int i = 0; i < rule_count; i++) {
        struct rule *rule = &rules[i];
        if (strcmp(rule->function, function) != 0 || !is_meant(rule, call)) continue;
        rule->calls++;
        if (rule->calls >= rule->from && rule->calls <= rule->to) merge(&fault, &rule->fault);
    }
    if (fault.has_rv) {
        char line[64];
        snprintf(line, sizeof line, "fault %s", function);
        note_call(line);
    }
    pthread_mutex_unlock(&lock);
    if (fault.text[0]) {
        printf("%s\n", fault.text);
        fflush(stdout);
    }
    for (int i = 0; i < fault.action_count; i++) faulty_act(function, fault.actions[i]);
    if (fault.exits) exit(fault.status);
    if (fault.delay) wait_ms(fault.delay);
    while (fault.hang[0] && access(fault.hang, F_OK) != 0) wait_ms(5);
    return fault;
}

void faulty_note_login(unsigned long user, bool has_pin, unsigned long rv) {
    char line[64];
    snprintf(line, sizeof line, "login user=0x%lx pin=%s rv=0x%lx", user, has_pin ? "given" : "none", rv);
    pthread_mutex_lock(&lock);
    note_call(line);
    pthread_mutex_unlock(&lock);
}

bool faulty_leaves_out(const char *function) {
    bool leaves_out = false;
    pthread_mutex_lock(&lock);
    read_rules();
    for (int i = 0; i < rule_count; i++) leaves_out |= rules[i].leaves_out && strcmp(rules[i].function, function) == 0;
    pthread_mutex_unlock(&lock);
    return leaves_out;
}
