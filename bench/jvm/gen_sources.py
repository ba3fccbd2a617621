#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes N Java source files for the javac benchmark: the same bytes for the same N, on every machine.

Usage: gen_sources.py DIRECTORY N

The classes lean on what makes javac work: generics, lambdas that must be inferred, switches, nested classes, records of constants,
and references to the neighbours, so that attribution crosses files."""
import os
import sys

METHOD_KINDS = 6


def method(cls, i):
    """Returns the text of the i-th method of class number cls; six kinds in turn."""
    name, kind, salt = "m%d" % i, i % METHOD_KINDS, cls * 31 + i * 7
    if kind == 0:
        return """    int %s(int a, int b) {
        int s = %d;
        for (int i = a; i < b; i++) {
            s += (i * %d) ^ (s >>> %d);
            if ((s & 7) == %d) { s -= i; } else if (s %% 3 == 0) { s += b; }
        }
        return s;
    }
""" % (name, salt, salt % 97 + 1, salt % 13 + 1, salt % 8)
    if kind == 1:
        return """    Map<String, List<Integer>> %s(Collection<String> in) {
        return in.stream().filter(s -> s.length() > %d).map(s -> s + "%d")
            .collect(Collectors.groupingBy(s -> s.substring(0, 1), TreeMap::new, Collectors.mapping(String::length, Collectors.toList())));
    }
""" % (name, salt % 5, salt)
    if kind == 2:
        cases = "".join('            case "k%d": r = %d + arg.length(); break;\n' % (k, salt + k) for k in range(8))
        return """    int %s(String arg) {
        int r;
        switch (arg) {
%s            default: r = -1;
        }
        return r;
    }
""" % (name, cases)
    if kind == 3:
        return """    <T extends Comparable<T>> T %s(List<? extends T> list, T least) {
        T best = least;
        for (T t : list) { if (t.compareTo(best) > 0) { best = t; } }
        try { return Optional.ofNullable(best).orElseThrow(); }
        catch (NoSuchElementException e) { return least; }
        finally { count += %d; }
    }
""" % (name, salt)
    if kind == 4:
        return """    String %s(Object o) {
        StringBuilder b = new StringBuilder("%d");
        if (o instanceof Integer) { b.append((Integer) o + %d); }
        else if (o instanceof List) { for (Object e : (List<?>) o) { b.append(e).append(','); } }
        else { b.append(o == null ? "null" : o.getClass().getName() + ':' + o); }
        return b.toString();
    }
""" % (name, salt, salt % 11)
    return """    Function<Integer, Integer> %s(int n) {
        class Step implements Function<Integer, Integer> {
            final int k = n + %d;
            @Override public Integer apply(Integer x) { return x * k + count; }
        }
        Function<Integer, Integer> f = new Step();
        return f.andThen(x -> x + %d).compose(x -> x - n);
    }
""" % (name, salt % 17, salt % 19)


def source(cls, total):
    """Returns the text of class number cls of total."""
    other = (cls * 7 + 3) % total
    body = "".join(method(cls, i) for i in range(24))
    return """package gen;

import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class C%(cls)d implements Supplier<Integer> {
    static int count = %(cls)d;
    enum Kind {
        RED, GREEN, BLUE;
        Kind next() { return values()[(ordinal() + 1) %% values().length]; }
    }
    static class Node<T> {
        final T value; Node<T> next; Kind kind = Kind.RED;
        Node(T value, Node<T> next) { this.value = value; this.next = next; }
        <R> Node<R> map(Function<? super T, ? extends R> f) {
            return new Node<>(f.apply(value), next == null ? null : next.map(f));
        }
    }
    private final C%(other)d[] others = new C%(other)d[1];
    public Integer get() {
        return others[0] == null ? m0(1, 100) : others[0].m0(count, 50) + new Node<>("a", null).map(String::length).value;
    }
%(body)s}
""" % {"cls": cls, "other": other, "body": body}


def main(argv):
    if len(argv) != 3:
        sys.stderr.write(__doc__)
        return 64
    folder = os.path.join(argv[1], "gen")
    total = int(argv[2])
    os.makedirs(folder, exist_ok=True)
    for cls in range(total):
        with open(os.path.join(folder, "C%d.java" % cls), "w", encoding="ascii") as f:
            f.write(source(cls, total))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
