/* SPDX-License-Identifier: BSD-2-Clause */
/* test_images.c: which image a dump gets, and when an image is destroyed. */
#include "cmocka_all.h"
#include "images.h"
#include <string.h>

static struct hpx_image images[3];
static char destroyed[8];

static void destroy(struct hpx_image *i)
{
    size_t n = strlen(destroyed);
    destroyed[n] = (char)('0' + (i - images));
    destroyed[n + 1] = 0;
}

static struct hpx_images all = {.lock = PTHREAD_MUTEX_INITIALIZER, .destroy = destroy};

static int begin(void **state)
{
    (void)state;
    memset(images, 0, sizeof images);
    destroyed[0] = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    hpx_images_fini(&all);
    return 0;
}

TEST(every_dump_gets_the_oldest_image_which_goes_when_it_is_dropped, begin, end)
{
    assert_false(hpx_images_wait(&all));
    assert_null(hpx_images_get(&all));
    hpx_images_put(&all, &images[0], false);
    hpx_images_put(&all, &images[1], false);
    assert_true(hpx_images_wait(&all));
    assert_ptr_equal(hpx_images_get(&all), &images[0]);
    assert_ptr_equal(hpx_images_get(&all), &images[1]);
    assert_null(hpx_images_get(&all));
    hpx_images_drop(&all, &images[1]);
    hpx_images_drop(&all, &images[0]);
    assert_string_equal(destroyed, "10");
}

TEST(the_image_at_exit_is_for_all_further_dumps, begin, end)
{
    images[0].last = true;
    hpx_images_put(&all, &images[0], false);
    assert_ptr_equal(hpx_images_get(&all), &images[0]);
    assert_ptr_equal(hpx_images_get(&all), &images[0]);
    hpx_images_drop(&all, &images[0]);
    hpx_images_drop(&all, &images[0]);
    assert_string_equal(destroyed, "");
    hpx_images_fini(&all);
    assert_string_equal(destroyed, "0");
}

TEST(an_image_that_stays_alone_replaces_those_that_no_dump_has, begin, end)
{
    hpx_images_put(&all, &images[0], true);
    assert_ptr_equal(hpx_images_get(&all), &images[0]);
    hpx_images_put(&all, &images[1], true);
    hpx_images_put(&all, &images[2], true);
    assert_string_equal(destroyed, "1"); /* a dump shows the first one still */
    hpx_images_drop(&all, &images[0]);
    assert_string_equal(destroyed, "10");
    assert_ptr_equal(hpx_images_get(&all), &images[2]);
    hpx_images_drop(&all, &images[2]);
}

TEST(an_image_at_exit_that_another_one_replaces_stays_for_its_dumps, begin, end)
{
    images[0].last = true;
    hpx_images_put(&all, &images[0], true);
    assert_ptr_equal(hpx_images_get(&all), &images[0]);
    hpx_images_put(&all, &images[1], true);
    assert_string_equal(destroyed, "");
    hpx_images_drop(&all, &images[0]);
    assert_string_equal(destroyed, "0");
    assert_ptr_equal(hpx_images_get(&all), &images[1]);
    hpx_images_drop(&all, &images[1]);
}

TESTS(NULL, NULL)
