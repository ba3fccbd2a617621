// SPDX-License-Identifier: BSD-2-Clause
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Allocations N: allocates in every way that has a probe, N times each; the tracker must count each allocation once. Objects are still finalized. Runs
 * rewritten, on a rewritten Object.
 */
public class Allocations {
    static class Point implements Cloneable {
        final int x;

        Point() {
            this(0);
        }

        Point(int x) {
            this.x = x;
        }

        @Override
        public Object clone() throws CloneNotSupportedException {
            return super.clone();
        }
    }

    static class BeforeSuper extends Point {
        BeforeSuper(boolean yes) {
            super(yes ? new int[4].length : new Point(3).x);
        }
    }

    static class Finalized {
        @Override
        @SuppressWarnings({"deprecation", "removal"})
        protected void finalize() {
            FINALIZED.countDown();
        }
    }

    enum Color {
        RED, GREEN
    }

    static final CountDownLatch FINALIZED = new CountDownLatch(1);
    static final Supplier<Point> POINTS = Point::new;
    static final IntFunction<int[]> ARRAYS = int[]::new;
    static final int[] NUMBERS = {1, 2, 3};
    static final Object[][] NESTED = {{}, {}};
    static final Point POINT = new Point();
    static Object kept;
    static int bad, checked;

    static Object pick(int... numbers) {
        return numbers;
    }

    static void run(int kind) throws Exception {
        switch (kind) {
        case 0: kept = new Point(1); break;
        case 1: kept = new Point(new Point(1).x); break;
        case 2: kept = new int[7]; break;
        case 3:
            kept = new boolean[1]; kept = new char[1]; kept = new float[1]; kept = new double[1];
            kept = new byte[1]; kept = new short[1]; kept = new int[1]; kept = new long[1];
            break;
        case 4: kept = new String[3]; kept = new int[2][]; break;
        case 5: kept = new int[2][3]; break;
        case 6: kept = new long[2][3][]; break;
        case 7: kept = NUMBERS.clone(); break;
        case 8: kept = NESTED.clone(); kept = Color.values(); break;
        case 9: kept = POINTS.get(); break;
        case 10: kept = ARRAYS.apply(5); break;
        case 11: kept = pick(1, 2, 3); break;
        case 12: kept = new BeforeSuper(true); kept = new BeforeSuper(false); break;
        case 13:
            for (int i = 0; i < 10; i++) {
                kept = i % 2 == 0 ? new Point(i) : i % 3 == 0 ? new int[i] : null;
            }
            break;
        case 14: kept = Integer.valueOf(100000 + kind); break;
        case 15: kept = new Object() { }; break;
        case 16:
            try {
                kept = new int[-kind];
            } catch (NegativeArraySizeException e) {
                kept = e;
            }
            break;
        case 17:
            synchronized (POINT) {
                kept = new Object[0];
            }
            break;
        case 18: kept = POINT.clone(); break;
        case 19: kept = java.lang.reflect.Array.newInstance(int.class, 3); break;
        default: throw new IllegalArgumentException();
        }
    }

    /** Counts of one run: new, one-dimensional arrays, their elements, arrays of more dimensions, objects. */
    static final int[][] EXPECTED = {
        {1, 0, 0, 0, 1}, {2, 0, 0, 0, 2}, {0, 1, 7, 0, 1}, {0, 8, 8, 0, 8}, {0, 2, 5, 0, 2}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, 1},
        {0, 0, 0, 2, 2}, {0, 0, 0, 0, 1}, {0, 1, 5, 0, 1}, {0, 1, 3, 0, 1}, {3, 1, 4, 0, 4}, {5, 2, 12, 0, 7}, {0, 0, 0, 0, 1}, {1, 0, 0, 0, 1},
        {0, 0, 0, 0, 1}, {0, 1, 0, 0, 1}, {0, 0, 0, 1, 1}, {0, 0, 0, 1, 1}};

    static void check(int kind, int times) throws Exception {
        run(kind); // links what it needs
        HprofxTracker.allocs = HprofxTracker.arrays = HprofxTracker.elements = HprofxTracker.multis = HprofxTracker.objects = 0;
        HprofxTracker.owner = Thread.currentThread();
        for (int i = 0; i < times; i++) {
            run(kind);
        }
        HprofxTracker.owner = null;
        int[] counted = {HprofxTracker.allocs, HprofxTracker.arrays, HprofxTracker.elements, HprofxTracker.multis, HprofxTracker.objects};
        for (int i = 0; i < counted.length; i++) {
            checked++;
            if (counted[i] != EXPECTED[kind][i] * times) {
                bad++;
                System.out.println("kind " + kind + ", count " + i + ": " + counted[i] + " instead of " + EXPECTED[kind][i] * times);
            }
        }
        if (EXPECTED[kind][4] > 0 && kind != 13 && HprofxTracker.last != kept) {
            bad++;
            System.out.println("kind " + kind + ": another object was handed over");
        }
    }

    public static void main(String[] args) throws Exception {
        for (int kind = 0; kind < EXPECTED.length; kind++) {
            check(kind, Integer.parseInt(args[0]));
        }
        for (int i = 0; i < 100; i++) {
            new Finalized();
        }
        for (int i = 0; i < 100 && FINALIZED.getCount() > 0; i++) {
            System.gc();
            FINALIZED.await(100, TimeUnit.MILLISECONDS);
        }
        if (FINALIZED.getCount() > 0) {
            bad++;
            System.out.println("objects are not finalized");
        }
        System.out.println(checked + " counts of " + EXPECTED.length + " kinds of allocation, " + bad + " wrong");
        System.exit(bad > 0 ? 1 : 0);
    }
}
