// SPDX-License-Identifier: BSD-2-Clause
package demo;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A parser of the JSON that Corpus writes: objects, arrays, strings, whole numbers. */
final class JsonParser {
    private final String text;
    private int at;

    private JsonParser(String text) {
        this.text = text;
    }

    static Object parse(String text) {
        JsonParser parser = new JsonParser(text);
        Object value = parser.parseValue();
        parser.skipSpaces();
        if (parser.at != text.length()) {
            throw new IllegalArgumentException("text behind the value at " + parser.at);
        }
        return value;
    }

    private Object parseValue() {
        skipSpaces();
        switch (text.charAt(at)) {
            case '{':
                return parseObject();
            case '[':
                return parseArray();
            case '"':
                return parseString();
            default:
                return parseNumber();
        }
    }

    private Map<String, Object> parseObject() {
        Map<String, Object> members = new LinkedHashMap<>();
        expect('{');
        while (!accept('}')) {
            skipSpaces();
            String name = parseString();
            expect(':');
            members.put(name, parseValue());
            accept(',');
        }
        return members;
    }

    private List<Object> parseArray() {
        List<Object> values = new ArrayList<>();
        expect('[');
        while (!accept(']')) {
            values.add(parseValue());
            accept(',');
        }
        return values;
    }

    private String parseString() {
        expect('"');
        StringBuilder string = new StringBuilder();
        while (text.charAt(at) != '"') {
            if (text.charAt(at) == '\\') {
                at++;
            }
            string.append(text.charAt(at++));
        }
        at++;
        return string.toString();
    }

    private Long parseNumber() {
        boolean negative = accept('-');
        long value = 0;
        int start = at;
        while (at < text.length() && Character.isDigit(text.charAt(at))) {
            value = 10 * value + text.charAt(at++) - '0';
        }
        if (at == start) {
            throw new IllegalArgumentException("no number at " + at);
        }
        return negative ? -value : value;
    }

    private void skipSpaces() {
        while (at < text.length() && text.charAt(at) == ' ') {
            at++;
        }
    }

    private boolean accept(char wanted) {
        skipSpaces();
        if (at < text.length() && text.charAt(at) == wanted) {
            at++;
            return true;
        }
        return false;
    }

    private void expect(char wanted) {
        if (!accept(wanted)) {
            throw new IllegalArgumentException(wanted + " wanted at " + at);
        }
    }
}
