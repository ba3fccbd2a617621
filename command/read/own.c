/* SPDX-License-Identifier: BSD-2-Clause */
/* own.c: see own.h. */
#include "own.h"
#include "compiler.h"
#include <string.h>

#define MOST 32
#define ROOM 128

static const char *const jdk[] = {
    "java",          "javax",       "jdk",         "sun",        "com.sun", "com.oracle.net", "netscape.javascript",
    "org.ietf.jgss", "org.jcp.xml", "org.w3c.dom", "org.xml.sax"};

/* Those that most servers have. A library that is not here is found by its place on the stacks (places.h). */
static const char *const libraries[] = {"akka",
                                        "antlr",
                                        "ch.qos.logback",
                                        "clojure",
                                        "com.codahale.metrics",
                                        "com.datastax",
                                        "com.esotericsoftware",
                                        "com.fasterxml",
                                        "com.github.benmanes",
                                        "com.google.common",
                                        "com.google.gson",
                                        "com.google.inject",
                                        "com.google.protobuf",
                                        "com.hazelcast",
                                        "com.mongodb",
                                        "com.mysql",
                                        "com.netflix",
                                        "com.rabbitmq",
                                        "com.thoughtworks",
                                        "com.typesafe",
                                        "com.zaxxer",
                                        "freemarker",
                                        "graphql",
                                        "groovy",
                                        "groovyx",
                                        "io.dropwizard",
                                        "io.grpc",
                                        "io.jsonwebtoken",
                                        "io.ktor",
                                        "io.lettuce",
                                        "io.micrometer",
                                        "io.micronaut",
                                        "io.netty",
                                        "io.opentelemetry",
                                        "io.prometheus",
                                        "io.quarkus",
                                        "io.reactivex",
                                        "io.smallrye",
                                        "io.swagger",
                                        "io.undertow",
                                        "io.vertx",
                                        "it.unimi.dsi",
                                        "jakarta",
                                        "javassist",
                                        "junit",
                                        "kotlin",
                                        "kotlinx",
                                        "net.bytebuddy",
                                        "net.sf",
                                        "okhttp3",
                                        "okio",
                                        "org.antlr",
                                        "org.apache",
                                        "org.aspectj",
                                        "org.assertj",
                                        "org.bouncycastle",
                                        "org.codehaus",
                                        "org.eclipse",
                                        "org.ehcache",
                                        "org.elasticsearch",
                                        "org.flywaydb",
                                        "org.glassfish",
                                        "org.gradle",
                                        "org.h2",
                                        "org.hibernate",
                                        "org.hsqldb",
                                        "org.infinispan",
                                        "org.jboss",
                                        "org.jetbrains",
                                        "org.jgroups",
                                        "org.joda",
                                        "org.jooq",
                                        "org.jruby",
                                        "org.junit",
                                        "org.mariadb",
                                        "org.mockito",
                                        "org.mortbay",
                                        "org.mozilla",
                                        "org.mybatis",
                                        "org.objectweb.asm",
                                        "org.openjdk.jmh",
                                        "org.opentest4j",
                                        "org.postgresql",
                                        "org.python",
                                        "org.quartz",
                                        "org.rocksdb",
                                        "org.scalatest",
                                        "org.slf4j",
                                        "org.springframework",
                                        "org.testng",
                                        "org.thymeleaf",
                                        "org.wildfly",
                                        "org.xerial",
                                        "org.yaml",
                                        "oracle.jdbc",
                                        "play",
                                        "reactor",
                                        "redis.clients",
                                        "rx",
                                        "scala",
                                        "zio"};

/* Libraries of C that belong to any JVM, up to their suffix. */
static const char *const of_vm[] = {"ld-linux-aarch64", "ld-linux-x86-64", "libc",       "libjava",   "libjimage", "libjvm", "libm",
                                    "libnet",           "libnio",          "libpthread", "libverify", "libzip"};

static struct {
    char text[MOST][ROOM];
    size_t n;
} mine;

/* The prefix ends where a part of the name does. */
static bool begins(const char *method, const char *prefix)
{
    for (; *prefix != '\0'; prefix++, method++) {
        if (*method != *prefix && !(*method == '/' && *prefix == '.')) {
            return false;
        }
    }
    return strchr("./$(", *method) != NULL || method[-1] == '.';
}

static bool is_of(const char *method, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (*method == *list[i] && begins(method, list[i])) {
            return true;
        }
    }
    return false;
}

/* A function of C, "libz.so.1.deflate". */
static bool is_c(const char *method)
{
    return (strncmp(method, "lib", 3) == 0 || strncmp(method, "ld-", 3) == 0) && strstr(method, ".so.") != NULL;
}

enum hpx_whose hpx_own(const char *method)
{
    if (method[0] == '\0' || strchr("<[?", method[0]) != NULL || strncmp(method, "hprofx.", 7) == 0) {
        return HPX_WHOSE_NONE;
    }
    for (size_t i = 0; i < mine.n; i++) {
        if (begins(method, mine.text[i])) {
            return HPX_WHOSE_MINE;
        }
    }
    if (is_c(method)) {
        return is_of(method, of_vm, HPX_ARRAY_LEN(of_vm)) ? HPX_WHOSE_JDK : HPX_WHOSE_LIBRARY;
    }
    return is_of(method, jdk, HPX_ARRAY_LEN(jdk))               ? HPX_WHOSE_JDK
           : is_of(method, libraries, HPX_ARRAY_LEN(libraries)) ? HPX_WHOSE_LIBRARY
                                                                : HPX_WHOSE_OTHER;
}

size_t hpx_own_maker(const char *method)
{
    size_t end = strcspn(method, "("), parts = 0, ends[4] = {0};
    for (size_t i = 0; i < end && parts < HPX_ARRAY_LEN(ends); i++) { /* behind the package come a class and a method */
        bool number = method[i + 1] >= '0' && method[i + 1] <= '9';   /* of a hidden class */
        if ((method[i] == '.' || method[i] == '/') && !number) {
            ends[parts++] = i;
        }
    }
    return parts < 2 ? 0 : parts == 2 ? ends[0] : ends[1];
}

bool hpx_own_mine(const char *prefixes)
{
    for (;;) {
        size_t n = strcspn(prefixes, ",");
        if (n == 0 || n >= ROOM || mine.n == MOST) {
            return false;
        }
        memcpy(mine.text[mine.n], prefixes, n);
        mine.text[mine.n++][n] = '\0';
        if (prefixes[n] == '\0') {
            return true;
        }
        prefixes += n + 1;
    }
}

void hpx_own_nobody(void)
{
    mine.n = 0;
}

bool hpx_own_is_told(void)
{
    return mine.n > 0;
}
