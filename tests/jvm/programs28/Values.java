/** Objects of value classes (--enable-preview): in fields and in an array of the class, where the VM may flatten them, and in an array of objects. */
public class Values {
    static value class Point {
        short x, y;

        Point(int x, int y) {
            this.x = (short) x;
            this.y = (short) y;
            super();
        }
    }

    static value class Wide { /* too large to be flattened: each is an object of the heap */
        long a, b, c;

        Wide(long a) {
            this.a = a;
            this.b = a + 1;
            this.c = a + 2;
            super();
        }
    }

    static value class Inner { /* its only field is flattened, and lies where it does */
        Byte b;

        Inner(int b) {
            this.b = (byte) b;
            super();
        }
    }

    static value class Name {
        Object name;

        Name(Object name) {
            this.name = name;
            super();
        }
    }

    static class Holder {
        long head;
        Point point, none;
        Inner inner;
        Name name;
        int tail;

        Holder(int i) {
            head = -i;
            point = new Point(i, -i);
            inner = new Inner(i);
            name = new Name("name " + i);
            tail = 2 * i;
        }
    }

    static Holder[] holders;
    static Inner[] inners;
    static Name[] names;
    static Point[] points;
    static Object[] wides;

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        points = new Point[n];
        wides = new Object[n];
        holders = new Holder[n];
        inners = new Inner[n + 2]; /* two are null */
        names = new Name[n];
        for (int i = 0; i < n; i++) {
            holders[i] = new Holder(i);
            inners[i + 1] = new Inner(i);
            names[i] = new Name(holders[i]);
            points[i] = new Point(3, 4); /* all are equal */
            wides[i] = new Wide(i / 2); /* two are equal */
        }
        HeapTell.untilStop();
    }
}
