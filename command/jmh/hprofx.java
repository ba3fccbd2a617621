// SPDX-License-Identifier: BSD-2-Clause
/* hprofx.java: the profiler behind JMH's option -prof hprofx. docs/guide.md.
 * JMH finds a profiler by the name of its class, so this one is named as the option and is in no package. JMH makes one in the JVM that
 * starts the forks, which looks at the options, names the file of each fork and reads it, and one in every fork, which begins the session of
 * the agent before the first measurement iteration and ends it after the last. Both are called by one thread. What a profile names is data:
 * the file has it escaped already. */
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.ExternalProfiler;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.profile.ProfilerException;
import org.openjdk.jmh.results.AggregationPolicy;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.BenchmarkResultMetaData;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.ScalarResult;
import org.openjdk.jmh.results.TextResult;
import org.openjdk.jmh.runner.IterationType;

public final class hprofx implements ExternalProfiler, InternalProfiler {
    private static final String USAGE = "hprofx: -prof 'hprofx:OPTION;OPTION': dir=FOLDER is where the profiles go, output=html, folded, pprof or "
        + "text what they are, agent=FILE another library, all others are those of hprofx(7)";
    private static final String SESSION = "hprofx.session"; // the property that gives a fork the options of its session; "": it has none
    private static final String REFUSED = ".refused"; // behind the name of the profile: the fork could not make it, and why
    private static final String BLACKHOLES = "org.openjdk.jmh.infra.Blackhole*"; // with a probe in it, none is the compiler's any more
    private static final int METHODS = 5; // with a result of their own
    private static final int ROWS = 10; // of a table in the text
    private static final int LONGEST = 200; // of a file's name 255 bytes are allowed
    private static final Set<String> tried = Collections.synchronizedSet(new HashSet<>()); // JVMs with options that the agent takes in them

    private final String load; // what loads the agent, to its first option
    private final String options; // of a session, but for its file
    private final Path folder;
    private final String suffix; // of what is made of the text; "": nothing
    private final String converter; // the command
    private final Map<String, List<String>> methods = new HashMap<>(); // of a benchmark: those with a result of their own
    private int forks; // that were asked for
    private Path file; // of the fork that runs; null: one that only warms up
    private int measured; // in a fork: the iterations so far
    private boolean begun; // in a fork: a session

    /** For ServiceLoader, by which JMH lists profilers. */
    public hprofx() {
        load = options = suffix = converter = "";
        folder = null;
    }

    /** line: what stands behind "-prof hprofx:", or "". */
    public hprofx(String line) throws ProfilerException {
        if (System.getProperty(SESSION) != null) { // a fork, whose options have been looked at
            load = options = suffix = converter = "";
            folder = null;
            return;
        }
        Map<String, String> own = new HashMap<>();
        options = String.join(",", ofAgent(line, own));
        suffix = suffix(own.getOrDefault("output", "text"));
        String agent = own.getOrDefault("agent", "");
        if (!agent.isEmpty() && !new File(agent).isFile()) {
            throw new ProfilerException("hprofx: there is no file " + agent + "; `hprofx --print-agent-path` prints what agent= needs");
        }
        Path library = agent.isEmpty() ? beside("libhprofx.so", "agent", "../../lib", "../../lib64") : Paths.get(agent).toAbsolutePath();
        load = library == null ? "-agentlib:hprofx=" : "-agentpath:" + library + "=";
        Path command = beside("hprofx", "../../bin");
        converter = command == null ? "hprofx" : command.toString();
        folder = Paths.get(own.getOrDefault("dir", "")).toAbsolutePath();
        if (folder.toString().contains(",")) {
            throw new ProfilerException("hprofx: the agent takes no file with a comma in its name: give dir= another folder than " + folder);
        }
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new ProfilerException("hprofx: the folder of dir= cannot be made", e);
        }
        String refusal = refusal(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        if (refusal == null && !suffix.isEmpty()) {
            refusal = complaint(Arrays.asList(converter, "--version"));
        }
        if (refusal != null) {
            throw new ProfilerException(refusal);
        }
    }

    /** The options of a session; those that are not the agent's go to `own`. */
    private static List<String> ofAgent(String line, Map<String, String> own) throws ProfilerException {
        List<String> rest = new ArrayList<>(), excluded = new ArrayList<>();
        Set<String> names = new HashSet<>();
        boolean calls = false;
        rest.add("verbose=n"); // what it says of a dump would stand in JMH's lines
        rest.add("depth=64"); // so that stacks reach the benchmark; the cutoff stays as it is, because it bounds the file
        for (String option : line.split("[;,]")) {
            if (option.isEmpty()) {
                continue; // nothing behind -prof hprofx, or a separator too many
            }
            String name = option.split("[=:]", 2)[0];
            String value = option.substring(Math.min(name.length() + 1, option.length()));
            names.add(name);
            switch (name) {
            case "dir":
            case "agent":
            case "output":
                own.put(name, value);
                break;
            case "help":
                throw new ProfilerException(USAGE);
            case "file":
            case "net":
                throw new ProfilerException("hprofx: " + name + "= is not for JMH, because every fork has a file of its own; dir=FOLDER says where");
            case "start":
                throw new ProfilerException("hprofx: start= is not for JMH: the session is that of the measurement iterations");
            case "exclude":
                if (!value.equals("none")) {
                    excluded.add(value);
                }
                break;
            default:
                calls |= name.equals("cpu") && (value.equals("times") || value.equals("old"));
                rest.add(option);
            }
        }
        if (Collections.disjoint(names, Arrays.asList("cpu", "heap", "monitor", "wall"))) {
            rest.add("cpu=samples");
        }
        if (names.contains("monitor") && !names.contains("locks")) {
            rest.add("locks=y"); // most of what waits does so in java.util.concurrent
        }
        if (calls) {
            excluded.add(BLACKHOLES);
        }
        if (!excluded.isEmpty()) {
            rest.add("exclude=" + String.join(":", excluded));
        }
        return rest;
    }

    private static String suffix(String output) throws ProfilerException {
        switch (output) {
        case "text":
            return "";
        case "html":
        case "folded":
            return "." + output;
        case "pprof":
            return ".pb.gz";
        default:
            throw new ProfilerException("hprofx: output=" + output + ": it is html, folded, pprof or text");
        }
    }

    /** A file of this build or installation: in the folder of the jar, one of these relative to it, or a folder in that; null: there is none. */
    private static Path beside(String name, String... folders) {
        try {
            URI jar = hprofx.class.getProtectionDomain().getCodeSource().getLocation().toURI();
            Path own = Paths.get(jar).toAbsolutePath().getParent();
            if (Files.isRegularFile(own.resolve(name))) {
                return own.resolve(name);
            }
            for (String folder : folders) {
                Path in = own.resolve(folder).normalize();
                if (Files.isRegularFile(in.resolve(name))) {
                    return in.resolve(name);
                }
                try (DirectoryStream<Path> inner = Files.newDirectoryStream(in, Files::isDirectory)) { // lib/x86_64-linux-gnu
                    for (Path one : inner) {
                        if (Files.isRegularFile(one.resolve(name))) {
                            return one.resolve(name);
                        }
                    }
                } catch (IOException e) {
                    continue; // no such folder
                }
            }
        } catch (Exception e) {
            return null; // of another kind than a file
        }
        return null;
    }

    /** Has this JVM begin a session with the options of the forks: the reason for which it does not, or null. */
    private String refusal(String jvm) {
        if (tried.contains(jvm + " " + load + options)) {
            return null;
        }
        try {
            Path made = Files.createTempFile(folder, ".hprofx", ".tried");
            try {
                Files.delete(made); // with force=n the agent would take another name
                String why = complaint(Arrays.asList(jvm, load + options + ",doe=n,file=" + escaped(made), "-version"));
                if (why == null) {
                    tried.add(jvm + " " + load + options);
                }
                return why;
            } finally {
                Files.deleteIfExists(made);
                Files.deleteIfExists(made.resolveSibling(made.getFileName() + ".part"));
            }
        } catch (IOException e) {
            return "hprofx: no profile can be written in " + folder + ": " + e;
        }
    }

    /** What a command says if it fails. */
    private static String complaint(List<String> command) {
        StringBuilder said = new StringBuilder();
        try {
            Process p = new ProcessBuilder(command).redirectErrorStream(true).start();
            p.getOutputStream().close();
            try (BufferedReader in = new BufferedReader(new InputStreamReader(p.getInputStream(), charset()))) {
                for (String line; (line = in.readLine()) != null;) {
                    said.append('\n').append(line);
                }
            }
            int status = p.waitFor();
            return status == 0 ? null : "hprofx: " + command.get(0) + " ended with status " + status + ":" + said;
        } catch (IOException e) {
            return "hprofx: " + command.get(0) + " cannot be run: " + e.getMessage();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "hprofx: interrupted";
        }
    }

    /** Of the command line and of names of files. */
    private static Charset charset() {
        return Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));
    }

    private static String escaped(Path path) {
        return path.toString().replace("%", "%%");
    }

    @Override
    public Collection<String> addJVMInvokeOptions(BenchmarkParams params) {
        return Collections.emptyList();
    }

    @Override
    public Collection<String> addJVMOptions(BenchmarkParams params) {
        file = null;
        if (++forks <= params.getWarmupForks()) {
            return Collections.singletonList("-D" + SESSION + "=");
        }
        String refusal = refusal(params.getJvm());
        if (refusal != null) {
            throw new IllegalStateException(refusal); // ends the run, as no failure of a fork does
        }
        file = unused(params.id());
        return Arrays.asList(load + "start=n", "-D" + SESSION + "=" + options + ",file=" + escaped(file));
    }

    /** A file for the next fork. Those of earlier forks and runs stay, so a number is in the name. */
    private Path unused(String benchmark) {
        String safe = benchmark.replaceAll("[^A-Za-z0-9._-]", "_");
        safe = safe.substring(0, Math.min(safe.length(), LONGEST));
        for (int n = 1;; n++) {
            Path path = folder.resolve(safe + "." + n + ".hprof.txt");
            if (!Files.exists(path) && !Files.exists(converted(path)) && !Files.exists(path.resolveSibling(path.getFileName() + ".part"))) {
                return path;
            }
        }
    }

    private Path converted(Path path) {
        String name = path.getFileName().toString();
        return suffix.isEmpty() ? path : path.resolveSibling(name.substring(0, name.length() - ".hprof.txt".length()) + suffix);
    }

    @Override
    public void beforeTrial(BenchmarkParams params) {
    }

    // ---- in a fork ----

    /** Of the agent, in this JVM: begins a session with these options, or ends it ("stop"). null, or why not. */
    private static native byte[] ask(byte[] words);

    @Override
    public void beforeIteration(BenchmarkParams params, IterationParams iteration) {
        String session = System.getProperty(SESSION);
        if (session == null) {
            throw new IllegalStateException("hprofx: the profile is that of a fork; give JMH -f 1 or more");
        }
        if (!session.isEmpty() && iteration.getType() == IterationType.MEASUREMENT && measured++ == 0) {
            begun = obeys(session, session);
        }
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Collection<? extends Result> afterIteration(BenchmarkParams params, IterationParams iteration, IterationResult result) {
        if (begun && measured == iteration.getCount()) {
            begun = !obeys("stop", System.getProperty(SESSION));
        }
        return Collections.emptyList();
    }

    /* An exception would fail this fork only, and JMH would end with status 0: the JVM that reads the profile fails the run. */
    private static boolean obeys(String words, String session) {
        String refusal;
        try {
            byte[] why = ask(words.getBytes(charset()));
            refusal = why == null ? null : new String(why, charset());
        } catch (UnsatisfiedLinkError e) {
            refusal = "this JVM has not loaded the agent: " + e.getMessage();
        }
        if (refusal != null) {
            String profile = session.substring(session.lastIndexOf(",file=") + ",file=".length()).replace("%%", "%");
            try {
                Files.write(Paths.get(profile + REFUSED), refusal.getBytes(StandardCharsets.UTF_8));
            } catch (IOException e) {
                System.err.println("hprofx: " + refusal); // there is no profile either
            }
        }
        return refusal == null;
    }

    // ---- where the forks are started ----

    @Override
    @SuppressWarnings("rawtypes")
    public Collection<? extends Result> afterTrial(BenchmarkResult result, long pid, File out, File err) {
        if (file == null) {
            return Collections.emptyList(); // a fork that only warms up
        }
        List<Result> results = new ArrayList<>();
        BenchmarkResultMetaData made = result.getMetadata();
        long ops = made == null ? 0 : made.getMeasurementOps();
        try {
            failIfRefused();
            Profile profile = new Profile(file, result.getParams().generatedBenchmark());
            // Of the first fork: if every fork named its own, the mean of a method would leave out those in which it has little.
            for (String method : methods.computeIfAbsent(result.getParams().id(), id -> profile.topMethods())) {
                results.add(profile.share(method));
            }
            profile.addSums(results, ops);
            results.add(new TextResult(convert() + (profile.text ? "\nper operation: of " + ops + " operations, those of the measurement" + profile.lost + "\n" + profile.tables(ops)
                                                                 : "\nonly profiles in the text format have figures here; hprofx view shows others\n"),
                                       "hprofx"));
        } catch (IOException e) {
            throw new IllegalStateException("hprofx: the fork left no profile that can be read: " + e, e);
        }
        return results;
    }

    private void failIfRefused() throws IOException {
        Path refused = file.resolveSibling(file.getFileName() + REFUSED);
        if (Files.exists(refused)) {
            String why = new String(Files.readAllBytes(refused), StandardCharsets.UTF_8);
            Files.delete(refused);
            throw new IllegalStateException("hprofx: the fork made no profile: " + why);
        }
    }

    /** The file of the fork, as output= wants it; the text goes once it is another. */
    private String convert() throws IOException {
        if (suffix.isEmpty()) {
            return file.toString();
        }
        Path to = converted(file);
        String why = complaint(Arrays.asList(converter, "convert", file.toString(), to.toString()));
        if (why != null) {
            return file + "\n" + why;
        }
        Files.delete(file);
        return to.toString();
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
        return "hprofx: CPU and wall-clock time, allocations and contention of the measurement iterations (an HPROF agent)";
    }

    /** How often something happened, and how much it was: under the benchmark, and in the whole JVM; and of what. */
    static final class Sum {
        private double often, much, oftenAll, muchAll;
        private final Map<String, Double> of = new HashMap<>(), ofAll = new HashMap<>(); // much, by the name that rows are added up by

        void add(boolean ofBenchmark, double times, double amount, String name) {
            oftenAll += times;
            muchAll += amount;
            ofAll.merge(name, amount, Double::sum);
            if (ofBenchmark) {
                often += times;
                much += amount;
                of.merge(name, amount, Double::sum);
            }
        }

        List<String> top(boolean all, int most) {
            Map<String, Double> from = all ? ofAll : of;
            List<String> names = new ArrayList<>(from.keySet());
            names.removeIf(name -> name.startsWith("hprofx.") || name.contains(" hprofx.")); // rows that stand for others: of no stack, or summed
            names.sort((a, b) -> from.get(a).equals(from.get(b)) ? a.compareTo(b) : Double.compare(from.get(b), from.get(a)));
            return names.subList(0, Math.min(most, names.size()));
        }
    }

    /** A row of a table whose exact times may still come. */
    static final class Row {
        private final String trace, name, state;
        private final double count, value;

        Row(String trace, String state, String name, double count, double value) {
            this.trace = trace;
            this.state = state;
            this.name = name;
            this.count = count;
            this.value = value;
        }
    }

    /** What a profile in the text format says (docs/formats.md). Times are in ns. */
    static final class Profile {
        private static final Pattern BEGIN = Pattern.compile(
            "(CPU SAMPLES|CPU TIME \\(ms\\)|METHOD CALLS|WALL CLOCK \\(ms\\)|SITES|MONITOR TIME|LOCK TIME|WAIT TIME|PINNED TIME) BEGIN \\((?:total = (\\d+))?.*");
        private static final Pattern ALLOCATED = Pattern.compile("hprofx: allocations: (\\d+) objects, (\\d+) bytes.*");
        private static final List<String> STATES = Arrays.asList("running", "runnable", "blocked", "waiting", "parked", "sleeping", "io", "native");

        private final Map<String, Sum> sums = new LinkedHashMap<>(); // of a table
        private final Map<String, Sum> wall = new HashMap<>(); // of a state
        private boolean stacks = true; // not so with sites=counts alone, where no allocation has a stack
        private boolean estimated; // sites=sampled
        private String lost = "";
        private boolean text;

        // Where reading is.
        private final String generated; // the class that JMH made for the benchmark, as a frame begins with it
        private final Set<String> ofBenchmark = new HashSet<>(); // traces
        private final Map<String, String> places = new HashMap<>(); // the innermost frame of a trace
        private String trace = "", inner = "", table = "", whole = "";
        private final List<Row> rows = new ArrayList<>(); // of `whole`, the last table
        private final List<Double> exact = new ArrayList<>(); // their times
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
            addUp();
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
            } else if (line.startsWith("hprofx: rows in ns: ")) {
                for (String ns : line.substring("hprofx: rows in ns: ".length()).split(" ")) {
                    exact.add(Double.parseDouble(ns));
                }
            } else if (line.startsWith("hprofx: ")) {
                takeReport(line);
            }
        }

        /* What JMH itself does between two calls of the benchmark, as in its Blackhole, is not the benchmark's. */
        private void takeFrame(String frame) {
            if (frame.startsWith(generated) && frame.contains("_jmhStub(") && !inner.isEmpty() && !inner.startsWith("\torg.openjdk.jmh.")) {
                ofBenchmark.add(trace);
            }
            if (inner.isEmpty()) {
                places.put(trace, frame.substring(1));
            }
            inner = frame;
        }

        private void takeBegin(String name, String sum) {
            addUp();
            table = whole = name;
            total = sum == null ? 0 : Double.parseDouble(sum);
            if (name.equals("SITES")) {
                sums.remove(name); // every table of sites counts from the start of the session, others from the one before
            }
            sums.computeIfAbsent(name, key -> new Sum());
        }

        /** Its rows are numbers of samples or calls, not times. */
        private static boolean isCounted(String table) {
            return table.equals("CPU SAMPLES") || table.equals("METHOD CALLS");
        }

        private void takeRow(String row) {
            String[] of = row.split(" +", table.equals("SITES") ? 9 : table.startsWith("WALL") ? 7 : 6);
            double share = Double.parseDouble(of[1].replace("%", "")) / 100 * total;
            if (table.equals("SITES")) { // rank self accum live-bytes live-objects bytes objects trace class
                rows.add(new Row(of[7], "", of[8], Double.parseDouble(of[6]), Double.parseDouble(of[5])));
            } else if (table.startsWith("WALL")) { // rank self accum ms trace state method
                rows.add(new Row(of[4], of[5], of[6], 1, 1e6 * Double.parseDouble(of[3])));
            } else { // rank self accum count trace name
                rows.add(new Row(of[4], "", of[5], Double.parseDouble(of[3]), isCounted(table) ? Double.parseDouble(of[3]) : 1e6 * share));
            }
        }

        /* The times of a table stand behind it. */
        private void addUp() {
            boolean precise = exact.size() == rows.size();
            for (int i = 0; i < rows.size(); i++) {
                Row r = rows.get(i);
                boolean own = ofBenchmark.contains(r.trace);
                double value = precise ? exact.get(i) : r.value;
                boolean byMethod = whole.startsWith("CPU") || whole.startsWith("WALL") || isCounted(whole);
                String name = byMethod ? r.name : r.name + (places.containsKey(r.trace) ? " in " + places.get(r.trace) : "");
                sums.get(whole).add(own, r.count, value, r.state.isEmpty() ? name : r.state + " " + name);
                if (!r.state.isEmpty()) {
                    wall.computeIfAbsent(r.state, key -> new Sum()).add(own, r.count, value, name);
                }
            }
            rows.clear();
            exact.clear();
        }

        private void takeReport(String line) {
            Matcher all = ALLOCATED.matcher(line);
            if (line.startsWith("hprofx: contentions: ")) { // also without a row
                sums.computeIfAbsent("MONITOR TIME", key -> new Sum());
            } else if (line.startsWith("hprofx: parked: ")) {
                sums.computeIfAbsent("LOCK TIME", key -> new Sum());
            } else if (line.startsWith("hprofx: allocations: ")) {
                stacks = sums.containsKey("CPU TIME (ms)") || !line.endsWith(" counted by probes");
                estimated = line.contains(": estimated ");
            } else if (line.startsWith("hprofx: lost: ") && !line.equals("hprofx: lost: 0")) {
                lost = "; figures may be too low, because events were lost: " + line.substring("hprofx: lost: ".length());
            }
            if (all.matches() && sums.containsKey("SITES")) { // with those below the cutoff
                addUp();
                sums.get("SITES").oftenAll = Double.parseDouble(all.group(1));
                sums.get("SITES").muchAll = Double.parseDouble(all.group(2));
            }
        }

        /** Where CPU time is known by method: of the calls, if there are both. */
        private Sum cpu() {
            return sums.getOrDefault("CPU TIME (ms)", sums.getOrDefault("CPU SAMPLES", new Sum()));
        }

        List<String> topMethods() {
            return cpu().top(true, METHODS);
        }

        ScalarResult share(String method) {
            return result("cpu." + method, percent(cpu().ofAll.getOrDefault(method, 0.0), cpu().muchAll), "%");
        }

        private static double percent(double part, double of) {
            return of > 0 ? 100 * part / of : 0;
        }

        @SuppressWarnings("rawtypes")
        void addSums(List<Result> to, double ops) {
            for (Map.Entry<String, Sum> e : sums.entrySet()) {
                Sum sum = e.getValue();
                if (e.getKey().equals("CPU SAMPLES")) {
                    to.add(result("samples", sum.much, "samples"));
                    to.add(result("samples.jvm", sum.muchAll, "samples"));
                } else if (ops > 0 && e.getKey().equals("SITES")) {
                    String unit = estimated ? "/op, estimated" : "/op";
                    addSum(to, "alloc.objects", stacks, sum.often, sum.oftenAll, ops, "objects" + unit);
                    addSum(to, "alloc.bytes", stacks, sum.much, sum.muchAll, ops, "B" + unit);
                } else if (ops > 0 && e.getKey().equals("METHOD CALLS")) { // without callers
                    addSum(to, "calls", false, sum.often, sum.oftenAll, ops, "calls/op");
                } else if (ops > 0 && e.getKey().startsWith("WALL")) {
                    for (String state : STATES) { // all of them, so that every fork has each
                        to.add(result("wall." + state, wall.getOrDefault(state, new Sum()).much / ops, "ns/op"));
                    }
                } else if (ops > 0 && !e.getKey().startsWith("CPU")) {
                    String label = label(e.getKey());
                    addSum(to, label + ".count", true, sum.often, sum.oftenAll, ops, (label.equals("blocked") ? "blocks" : label) + "/op");
                    addSum(to, label + ".time", true, sum.much, sum.muchAll, ops, "ns/op");
                }
            }
        }

        private static String label(String table) {
            return table.startsWith("MONITOR") ? "blocked" : table.startsWith("LOCK") ? "parked" : table.startsWith("WAIT") ? "waits" : "pinned";
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

        private static String figure(double value) {
            return String.format(Locale.ROOT, value == Math.rint(value) ? "%.0f" : "%.3f", value);
        }

        /** The largest rows of every table: of the benchmark, where it has any. CPU time is that of all threads. */
        String tables(double ops) {
            StringBuilder to = new StringBuilder();
            for (Map.Entry<String, Sum> e : sums.entrySet()) {
                Sum sum = e.getValue();
                boolean all = e.getKey().startsWith("CPU") || sum.of.isEmpty();
                double of = all ? sum.muchAll : sum.much;
                String unit = e.getKey().equals("CPU SAMPLES") ? "samples" : e.getKey().equals("SITES") ? "B/op" : isCounted(e.getKey()) ? "calls/op" : "ns/op";
                double by = unit.endsWith("/op") && ops > 0 ? ops : 1;
                to.append(String.format(Locale.ROOT, "%n%s, %s: %s %s%n", e.getKey().replace(" (ms)", ""), all ? "of the JVM" : "under the benchmark", figure(of / by), unit));
                for (String name : sum.top(all, ROWS)) {
                    double part = (all ? sum.ofAll : sum.of).get(name);
                    to.append(String.format(Locale.ROOT, "  %6.2f %%  %12s  %s%n", percent(part, of), figure(part / by), name));
                }
            }
            return to.toString();
        }
    }
}
