/** Objects of value classes (--enable-preview): N in a field's array of the class, where the VM may flatten them, N in an array of objects. */
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

    static Point[] points;
    static Object[] wides;

    public static void main(String[] args) throws Exception {
        int n = Integer.parseInt(args[0]);
        points = new Point[n];
        wides = new Object[n];
        for (int i = 0; i < n; i++) {
            points[i] = new Point(3, 4); /* all are equal */
            wides[i] = new Wide(i / 2); /* two are equal */
        }
        HeapTell.untilStop();
    }
}
