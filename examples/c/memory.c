/*
 * A memory from C: how a program handles a tool call of the model.
 *
 *     cc -o memory memory.c $(pkg-config --cflags --libs memdir_c)
 */
#include <memdir.h>

#include <stdio.h>

/* Executes one tool call, and prints the result for the model. */
static void execute(uint64_t memory, const char *input)
{
    char *error;
    char *reply = memdir_execute(memory, input, &error);

    /* A JSON object with "content" and "is_error", the fields of a tool_result. */
    printf("%s\n", reply);
    memdir_free(reply);

    /* For the log, never for the model. */
    if (error != NULL) {
        fprintf(stderr, "the memory failed: %s\n", error);
        memdir_free(error);
    }
}

int main(int count, char **arguments)
{
    const char *address = count > 1 ? arguments[1] : "memory:";
    char *error;
    uint64_t memory = memdir_open(address, "{\"max_files\": 100}", &error);

    if (memory == 0) {
        fprintf(stderr, "%s\n", error);
        memdir_free(error);
        return 1;
    }
    execute(memory, "{\"command\": \"create\", \"path\": \"/memories/notes.md\", \"file_text\": \"- likes tea\\n\"}");
    execute(memory, "{\"command\": \"view\", \"path\": \"/memories/notes.md\"}");
    execute(memory, "{\"command\": \"view\", \"path\": \"/memories/../etc/passwd\"}");
    memdir_close(memory);
    return 0;
}
