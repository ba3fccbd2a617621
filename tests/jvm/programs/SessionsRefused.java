/** Sessions that cannot begin or end, each followed by one that can. Argument: the library (tests/sessions). The last one ends with the JVM. */
public class SessionsRefused {
    public static void main(String[] a) {
        System.load(a[0]);
        for (int i = 0; i < 3; i++) {
            System.out.println("wrong option " + Sessions.begin("cpu=wrong"));
            System.out.println("wrong file " + Sessions.begin("cpu=samples,file=/nowhere/x"));
            System.out.println("none to end " + Sessions.end());
            System.out.println("begins " + Sessions.begin("cpu=samples,verbose=n,file=" + i + ".txt"));
            System.out.println("second one " + Sessions.begin("cpu=samples"));
            System.out.println("ends " + Sessions.end());
        }
        System.out.println("begins " + Sessions.begin("cpu=samples,file=last.txt"));
    }
}
