// SPDX-License-Identifier: BSD-2-Clause
/* hprofx.java: the profiler behind JMH's option -prof hprofx. docs/guide.md.
 * JMH finds a profiler by the name of its class, so this one is named as the option and is in no package.
 * It runs in the JVM that starts the forks, in one thread. What a profile names is data: the file has it escaped already. */
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.BenchmarkResultMetaData;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;

public final class hprofx implements ExternalProfiler {
    private static final String USAGE = "hprofx: -prof 'hprofx:OPTION;OPTION': dir=FOLDER is where the profiles go, agent=FILE is the library, "
        + "all others are those of hprofx(7)";
    private static final int METHODS = 5; // with a result of their own
    private static final int LONGEST = 200; // of a file's name 255 bytes are allowed

    private final String load; // what loads the agent, to its first option
    private final String options; // of the agent, but for its file
    private final Path folder;
    private final Map<String, List<String>> methods = new HashMap<>(); // of a benchmark: those with a result of their own
    private Path file; // of the fork that runs

    /** For ServiceLoader, by which JMH lists profilers. */
    public hprofx() throws ProfilerException {
        this("");
    }

    /** line: what stands behind "-prof hprofx:", or "". */
    public hprofx(String line) throws ProfilerException {
        List<String> rest = new ArrayList<>();
        String dir = "", agent = "";
        boolean mode = false;
        for (String option : line.split("[;,]")) {
            if (option.isEmpty()) {
                continue; // nothing behind -prof hprofx, or a separator too many
            }
            String name = option.split("[=:]", 2)[0];
            String value = option.substring(Math.min(name.length() + 1, option.length()));
            switch (name) {
            case "dir":
                dir = value;
                break;
            case "agent":
                agent = value;
                break;
            case "help":
                throw new ProfilerException(USAGE);
            case "file":
            case "net":
                throw new ProfilerException("hprofx: " + name + "= is not for JMH, because every fork has a file of its own; dir=FOLDER says where");
            default:
                mode |= name.equals("cpu") || name.equals("heap") || name.equals("monitor");
                rest.add(option);
            }
        }
        if (!mode) {
            rest.add("cpu=samples");
        }
        if (!agent.isEmpty() && !new File(agent).isFile()) {
            throw new ProfilerException("hprofx: there is no file " + agent + "; `hprofx --print-agent-path` prints what agent= needs");
        }
        load = agent.isEmpty() ? "-agentlib:hprofx=" : "-agentpath:" + new File(agent).getAbsolutePath() + "=";
        options = "cutoff=0,depth=64," + String.join(",", rest); // the sums want every row, and stacks that reach the benchmark
        folder = Paths.get(dir).toAbsolutePath();
        if (folder.toString().contains(",")) {
            throw new ProfilerException("hprofx: the agent takes no file with a comma in its name: give dir= another folder than " + folder);
        }
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new ProfilerException("hprofx: the folder of dir= cannot be made", e);
        }
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        file = unused(params.id());
        return Collections.singletonList(load + options + ",file=" + file.toString().replace("%", "%%"));
    }

    /** A file for the next fork. Those of earlier forks and runs stay, so a number is in the name. */
    private Path unused(String benchmark) {
        String safe = benchmark.replaceAll("[^A-Za-z0-9._-]", "_");
        safe = safe.substring(0, Math.min(safe.length(), LONGEST));
        for (int n = 1;; n++) {
            Path path = folder.resolve(safe + "." + n + ".hprof.txt");
            if (!path.toFile().exists()) {
                return path;
            }
        }
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        List<Result> results = new ArrayList<>();
        BenchmarkResultMetaData made = result.getMetadata();
        long ops = made == null ? 0 : made.getWarmupOps() + made.getMeasurementOps();
        String text;
        try {
            Profile profile = new Profile(file, result.getParams().generatedBenchmark());
            // Of the first fork: if every fork named its own, the mean of a method would leave out those in which it has little.
            for (String method : methods.computeIfAbsent(result.getParams().id(), id -> profile.topMethods())) {
                results.add(profile.share(method));
            }
            profile.addSums(results, ops);
            text = file + (profile.text ? "\nper operation: of " + ops + " operations, warm-up included" + profile.lost + "\n"
                                        : "\nonly profiles in the text format have figures here; hprofx info shows others\n");
        } catch (IOException e) {
            text = "there is no profile: " + e + "\n";
        }
        results.add(new TextResult(text, "hprofx"));
        return results;
    }

    @Override
    public boolean allowPrintOut() {
        return true;
    }

    @Override
    public boolean allowPrintErr() {
        return true;
    }

    @Override
    public String getDescription() {
        return "hprofx: CPU time, allocations and contention of every fork (an HPROF agent)";
    }

    /** How often something happened, and how much it was: under the benchmark, and in the whole JVM. */
    static final class Sum {
        private double often, much, oftenAll, muchAll;

        void add(boolean ofBenchmark, double times, double amount) {
            oftenAll += times;
            muchAll += amount;
            often += ofBenchmark ? times : 0;
            much += ofBenchmark ? amount : 0;
        }
    }

    /** What a profile in the text format says (docs/formats.md). */
    static final class Profile {
        private static final Pattern BEGIN = Pattern.compile("(CPU SAMPLES|CPU TIME \\(ms\\)|SITES|MONITOR TIME) BEGIN \\((?:total = (\\d+))?.*");

        private final Map<String, Double> cpu = new HashMap<>(); // of a method: samples or ms
        private double cpuAll;
        private Sum allocated; // objects, bytes; null: no allocation was recorded
        private Sum blocked; // blocks, ms; null: monitors were not watched
        private boolean stacks = true; // not so with sites=counts alone, where no allocation has a stack
        private boolean times; // cpu=times
        private boolean estimated; // sites=sampled
        private String lost = "";
        private boolean text;

        // Where reading is.
        private final String generated; // the class that JMH made for the benchmark, as a frame begins with it
        private final Set<String> ofBenchmark = new HashSet<>(); // traces
        private String trace = "", inner = "", table = "";
        private double total; // of the table

        Profile(Path file, String generatedMethod) throws IOException {
            generated = "\t" + generatedMethod.substring(0, generatedMethod.lastIndexOf('.') + 1);
            try (BufferedReader in = new BufferedReader(new InputStreamReader(Files.newInputStream(file), StandardCharsets.UTF_8))) {
                String line = in.readLine();
                text = line != null && line.startsWith("JAVA PROFILE 1.0.1, created ");
                while (text && (line = in.readLine()) != null) {
                    take(line);
                }
            }
        }

        private void take(String line) {
            if (!trace.isEmpty() && line.startsWith("\t")) {
                takeFrame(line);
                return;
            }
            trace = "";
            inner = "";
            Matcher begin = BEGIN.matcher(line);
            if (line.startsWith("TRACE ")) {
                trace = line.substring("TRACE ".length(), line.indexOf(':'));
            } else if (begin.matches()) {
                takeBegin(begin.group(1), begin.group(2));
            } else if (line.equals(table + " END")) {
                table = "";
            } else if (!table.isEmpty() && line.matches(" *\\d.*")) {
                takeRow(line.trim());
            } else if (line.startsWith("hprofx: ")) {
                takeReport(line);
            }
        }

        /* What JMH itself does between two calls of the benchmark, as in its Blackhole, is not the benchmark's. */
        private void takeFrame(String frame) {
            if (frame.startsWith(generated) && frame.contains("_jmhStub(") && !inner.isEmpty() && !inner.startsWith("\torg.openjdk.jmh.")) {
                ofBenchmark.add(trace);
            }
            inner = frame;
        }

        private void takeBegin(String name, String sum) {
            table = name;
            total = sum == null ? 0 : Double.parseDouble(sum);
            times |= name.startsWith("CPU TIME");
            cpuAll += name.startsWith("CPU ") ? total : 0;
            if (name.equals("SITES")) {
                allocated = new Sum(); // every table of sites counts from the start of the program, others from the one before
            }
        }

        private void takeRow(String row) {
            if (table.equals("SITES")) {
                String[] of = row.split(" +", 9); // rank self accum live-bytes live-objects bytes objects trace class
                allocated.add(ofBenchmark.contains(of[7]), Double.parseDouble(of[6]), Double.parseDouble(of[5]));
                return;
            }
            String[] of = row.split(" +", 6); // rank self accum count trace name
            double count = Double.parseDouble(of[3]), part = Double.parseDouble(of[1].replace("%", "")) / 100 * total;
            if (table.equals("MONITOR TIME")) {
                blocked = blocked == null ? new Sum() : blocked;
                blocked.add(ofBenchmark.contains(of[4]), count, part);
            } else {
                cpu.merge(of[5], table.equals("CPU SAMPLES") ? count : part, Double::sum);
            }
        }

        private void takeReport(String line) {
            if (line.startsWith("hprofx: contentions: ")) { // also without a row
                blocked = blocked == null ? new Sum() : blocked;
            } else if (line.startsWith("hprofx: allocations: ")) {
                stacks = times || !line.endsWith(" counted by probes");
                estimated = line.contains(": estimated ");
            } else if (line.startsWith("hprofx: lost: ") && !line.equals("hprofx: lost: 0")) {
                lost = "; figures may be too low, because events were lost: " + line.substring("hprofx: lost: ".length());
            }
        }

        List<String> topMethods() {
            List<String> all = new ArrayList<>(cpu.keySet());
            all.sort((a, b) -> Double.compare(cpu.get(b), cpu.get(a)));
            return all.subList(0, Math.min(METHODS, all.size()));
        }

        ScalarResult share(String method) {
            return result("cpu." + method, cpuAll > 0 ? 100 * cpu.getOrDefault(method, 0.0) / cpuAll : 0, "%");
        }

        @SuppressWarnings("rawtypes")
        void addSums(List<Result> to, double ops) {
            String unit = estimated ? "/op, estimated" : "/op";
            if (allocated != null && ops > 0) {
                addSum(to, "alloc.objects", stacks, allocated.often, allocated.oftenAll, ops, "objects" + unit);
                addSum(to, "alloc.bytes", stacks, allocated.much, allocated.muchAll, ops, "B" + unit);
            }
            if (blocked != null && ops > 0) {
                addSum(to, "blocked.count", true, blocked.often, blocked.oftenAll, ops, "blocks/op");
                addSum(to, "blocked.time", true, 1e6 * blocked.much, 1e6 * blocked.muchAll, ops, "ns/op");
            }
        }

        @SuppressWarnings("rawtypes")
        private static void addSum(List<Result> to, String label, boolean stacks, double ofBenchmark, double ofAll, double ops, String unit) {
            if (stacks) {
                to.add(result(label, ofBenchmark / ops, unit));
            }
            to.add(result(label + ".jvm", ofAll / ops, unit));
        }

        private static ScalarResult result(String label, double value, String unit) {
            return new ScalarResult("hprofx." + label, value, unit, AggregationPolicy.AVG);
        }
    }
}
