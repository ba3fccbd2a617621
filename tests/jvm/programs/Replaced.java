import java.util.Arrays;

/**
 * Calls methods for which HotSpot has code of its own. args: rounds. Each round calls work() once, and that many(), which is counted, and three
 * methods of the JDK, which are not once work() is compiled; Arrays.copyOf then makes its array without the probe.
 */
public class Replaced {
    private static final int CALLS = 20000;
    private static final Object[] OF = new Object[7];
    private static int sum;
    static Object[] kept;

    static int many(int x) {
        return x ^ (x >> 3);
    }

    static String text(int x) {
        return new StringBuilder().append(x).append("a").toString();
    }

    static void work() {
        for (int i = 0; i < CALLS; i++) {
            sum = Math.max(sum, many(i));
            sum += Integer.bitCount(sum);
            sum += text(i).length();
            kept = Arrays.copyOf(OF, 12);
        }
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]);
        for (int i = 0; i < rounds; i++) {
            work();
        }
        System.out.println("calls " + rounds * CALLS + (sum == 0 ? "!" : ""));
    }
}
