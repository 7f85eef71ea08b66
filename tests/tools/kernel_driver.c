/* Calls kernels without Python, as was recorded elsewhere: reads calls, prints what they left, bit by bit.

   A call is: the number of the kernel, of blocks of memory, of bytes of arguments and of addresses in them; the length
   of each block and its bytes; the arguments; for each address where it stands, its block, and its place there. What
   is written is the result and then the blocks. All numbers have 64 bits. */

#include <stdio.h>
#include <stdlib.h>

#include "kernels.c"

#define MOST 4096

static void read_bytes(void *into, int64_t count)
{
    if (count && fread(into, 1, (size_t)count, stdin) != (size_t)count)
        exit(3);
}

static void *room_for(int64_t count)
{
    void *room = malloc((size_t)count + 1);
    if (!room)
        exit(4);
    return room;
}

/* A result of at most so many bytes; what is no part of it is zero. */
typedef union {
    int64_t whole;
    double number;
    bool truth;
    char bytes[128];
} Result;

static Result call(int64_t kernel, char *a)
{
    Result result;
    memset(&result, 0, sizeof result);
    switch (kernel) {
#include CALLS
    default:
        exit(5);
    }
    return result;
}

int main(void)
{
    int64_t head[4];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        static char *blocks[MOST];
        static int64_t lengths[MOST];
        if (head[1] > MOST)
            exit(6);
        for (int64_t i = 0; i < head[1]; i++) {
            read_bytes(&lengths[i], 8);
            blocks[i] = room_for(lengths[i]);
            read_bytes(blocks[i], lengths[i]);
        }
        char *arguments = room_for(head[2]);
        read_bytes(arguments, head[2]);
        for (int64_t i = 0; i < head[3]; i++) {
            int64_t address[3];
            read_bytes(address, sizeof address);
            char *at = blocks[address[1]] + address[2];
            memcpy(arguments + address[0], &at, sizeof at);
        }
        Result result = call(head[0], arguments);
        fwrite(&result, sizeof result, 1, stdout);
        for (int64_t i = 0; i < head[1]; i++) {
            fwrite(blocks[i], 1, (size_t)lengths[i], stdout);
            free(blocks[i]);
        }
        free(arguments);
    }
    return ferror(stdin) || fflush(stdout) ? 2 : 0;
}
