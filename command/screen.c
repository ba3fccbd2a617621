/* SPDX-License-Identifier: BSD-2-Clause */
/* screen.c: see screen.h. */
#include "screen.h"
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HPX_NCURSES
#include <curses.h>

static SCREEN *screen; /* NULL: plain text */

void hpx_screen_open(void)
{
    (void)setlocale(LC_CTYPE, "");
    screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? newterm(NULL, stdout, stdin) : NULL;
    if (screen != NULL) {
        (void)cbreak();
        (void)noecho();
        (void)nodelay(stdscr, TRUE);
        (void)curs_set(0);
    }
}

static void draw(const char *text)
{
    (void)erase();
    for (int row = 0; *text != 0 && row < LINES; row++) {
        size_t n = strcspn(text, "\n");
        (void)mvaddnstr(row, 0, text, (int)n); /* the window has its end at the right */
        text += n + (text[n] != 0);
    }
    (void)refresh();
}

bool hpx_screen_quits(void)
{
    bool quits = false;
    for (int key; screen != NULL && (key = getch()) != ERR;) {
        quits = quits || key == 'q';
    }
    return quits;
}

void hpx_screen_close(void)
{
    if (screen != NULL) {
        (void)endwin();
        delscreen(screen);
        screen = NULL;
    }
}

static bool has_screen(void)
{
    return screen != NULL;
}
#else

void hpx_screen_open(void)
{
}

static void draw(const char *text)
{
    (void)text;
}

bool hpx_screen_quits(void)
{
    return false;
}

void hpx_screen_close(void)
{
}

static bool has_screen(void)
{
    return false;
}
#endif

void hpx_screen_show(const char *text)
{
    if (has_screen()) {
        draw(text);
    } else {
        (void)printf("%s\n", text);
        (void)fflush(stdout);
    }
}
