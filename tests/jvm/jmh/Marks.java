// SPDX-License-Identifier: BSD-2-Clause
package marks;

import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.runner.IterationType;

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

    /** The warm-up iterations burn in a method of their own, and so does what makes the state. */
    @State(Scope.Thread)
    public static class Warm {
        public double sum;
        private boolean warms;

        @Setup(Level.Trial)
        public void make() {
            burnInSetup();
        }

        @Setup(Level.Iteration)
        public void begin(IterationParams iteration) {
            warms = iteration.getType() == IterationType.WARMUP;
        }

        void burnInSetup() {
            for (int i = 0; i < 20_000_000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }

        void burnInWarmup() {
            for (int i = 0; i < 20_000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }

        void burnMeasured() {
            for (int i = 0; i < 20_000; i++) {
                sum += Math.sqrt(i + sum);
            }
        }
    }

    @Benchmark
    public double warmed(Warm in) {
        if (in.warms) {
            in.burnInWarmup();
        } else {
            in.burnMeasured();
        }
        return in.sum;
    }

    /** Parked until another thread, which sees it parked, lets it go. */
    @State(Scope.Benchmark)
    public static class Parking {
        private volatile Thread parks;
        private volatile boolean ends;
        private final Thread other = new Thread(this::release);

        public Parking() {
            other.setDaemon(true);
            other.start();
        }

        private void release() {
            while (!ends) {
                Thread parked = parks;
                if (parked != null && parked.getState() == Thread.State.WAITING) {
                    parks = null;
                    LockSupport.unpark(parked);
                } else {
                    Thread.yield();
                }
            }
        }

        void park() {
            parks = Thread.currentThread();
            while (parks != null) {
                LockSupport.park(this);
            }
        }

        @TearDown
        public void end() {
            ends = true;
        }
    }

    @Benchmark
    public void park(Parking in) {
        in.park();
    }
}
