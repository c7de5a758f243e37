/* A module whose commands have the names that are its load arguments. Each replies with the simple string "other". No
 * header is needed: the first field of the context is the function that looks up all others. */
#include <stddef.h>

typedef int (*Command)(void *ctx, void **argv, int argc);

static int (*reply)(void *ctx, const char *text);

static int other(void *ctx, void **argv, int argc) {
    (void)argv, (void)argc;
    return reply(ctx, "other");
}

int RedisModule_OnLoad(void *ctx, void **argv, int argc) {
    int (*get_api)(const char *name, void *function) = *(int (**)(const char *, void *))ctx;
    void (*set_attributes)(void *ctx, const char *name, int version, int api);
    int (*create)(void *ctx, const char *name, Command run, const char *flags, int first, int last, int step);
    const char *(*text)(const void *string, size_t *len);
    get_api("RedisModule_SetModuleAttribs", &set_attributes);
    get_api("RedisModule_CreateCommand", &create);
    get_api("RedisModule_StringPtrLen", &text);
    get_api("RedisModule_ReplyWithSimpleString", &reply);
    set_attributes(ctx, "other", 1, 1);
    for (int at = 0; at < argc; at++) {
        if (create(ctx, text(argv[at], NULL), other, "readonly", 0, 0, 0) != 0) return 1;
    }
    return 0;
}
