/* SPDX-License-Identifier: BSD-2-Clause */
/* parts.h: the page, without its data, in the program: embed.py makes parts.c of page.html, page.css and the scripts when hprofx is built.
 */
#ifndef HPX_PAGE_PARTS_H
#define HPX_PAGE_PARTS_H

#include <stddef.h>

extern const unsigned char hpx_page_head[], hpx_page_tail[]; /* before the data, behind them */
extern const size_t hpx_page_head_size, hpx_page_tail_size;

#endif
