/* A CGI program that measures itself under the server's request. */
#include "../../common/parent.h"
#include "application.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    arm_correlator_t room;
    const arm_tran_start_handle_t page =
        begin_application("pages", "page", parent_of_thread(&room), ARM_FLAG_NONE);
    while (getchar() != EOF) { /* httpd resets a program that leaves its input unread */
    }
    const char *trace = getenv("TRACEPARENT");
    printf("Content-Type: text/plain\r\n\r\n%s\n%s\n", trace ? trace : "no traceparent",
           getenv("HTTP_TRACEPARENT") ? getenv("HTTP_TRACEPARENT") : "no header");
    fflush(stdout);
    end_application(page);
    return 0;
}
