<%-- SPDX-License-Identifier: BSD-2-Clause --%>
<%-- A page of some 6,000 small objects: 2,000 items, each with a string and its bytes, which are sorted and added up. --%>
<%@ page contentType="text/plain; charset=US-ASCII" session="false" import="java.util.ArrayList, java.util.Comparator, java.util.HashMap, java.util.List, java.util.Map" %>
<%!
    private static final int ITEMS = 2000;

    /** What a shop would list. */
    private static final class Item {
        private final String name;
        private final int price;

        Item(int seed) {
            name = Integer.toString(seed * 69069 + 1 >>> 4, 36);
            price = seed % 1000;
        }

        String name() {
            return name;
        }

        int price() {
            return price;
        }
    }

    private static List<Item> items(int seed) {
        List<Item> made = new ArrayList<>(ITEMS);
        for (int i = 0; i < ITEMS; i++) {
            made.add(new Item(seed + i * 7919));
        }
        return made;
    }
%>
<%
    List<Item> items = items((int) System.nanoTime());
    items.sort(Comparator.comparing(Item::name));
    Map<Character, Integer> sums = new HashMap<>();
    for (Item item : items) {
        sums.merge(item.name().charAt(0), item.price(), Integer::sum);
    }
    for (Map.Entry<Character, Integer> sum : sums.entrySet()) {
        out.print(sum.getKey());
        out.print(' ');
        out.println(sum.getValue());
    }
    out.println("whole");
%>
