// SPDX-License-Identifier: BSD-2-Clause
package marks;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Benchmarks that do a known amount of work in each operation. */
@BenchmarkMode(Mode.AverageTime)
public class Marks {
    /** Objects, all of one size; each stays reachable until the next operation. */
    @State(Scope.Benchmark)
    public static class Objects {
        @Param({"3"})
        public int count;
        public Object[] last;

        Object[] link(Object[] to) {
            Object[] made = new Object[1];
            made[0] = to;
            return made;
        }
    }

    @Benchmark
    public void objects(Objects in) {
        in.last = null;
        for (int i = 0; i < in.count; i++) {
            in.last = in.link(in.last);
        }
    }

    @State(Scope.Benchmark)
    public static class Work {
        public double sum;

        void less() {
            for (int i = 0; i < 20_000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }

        void more() {
            for (int i = 0; i < 80_000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }
    }

    @Benchmark
    public double split(Work work) {
        work.less();
        work.more();
        return work.sum;
    }

    /** Another thread has the monitor until this one is blocked by it. */
    @State(Scope.Benchmark)
    public static class Gate {
        private volatile Thread wants;
        private volatile boolean taken, ends;
        private final Thread owner = new Thread(this::own);

        public Gate() {
            owner.setDaemon(true);
            owner.start();
        }

        private void own() {
            while (!ends) {
                Thread blocked = wants;
                if (blocked == null) {
                    Thread.yield();
                    continue;
                }
                synchronized (this) {
                    wants = null;
                    taken = true;
                    while (blocked.getState() != Thread.State.BLOCKED) {
                        Thread.yield();
                    }
                }
            }
        }

        void pass() {
            taken = false;
            wants = Thread.currentThread();
            while (!taken) {
                Thread.yield();
            }
            synchronized (this) {
                taken = false;
            }
        }

        @TearDown
        public void end() {
            ends = true;
        }
    }

    @Benchmark
    public void block(Gate gate) {
        gate.pass();
    }
}
