// SPDX-License-Identifier: BSD-2-Clause
import java.io.BufferedReader;
import java.io.InputStreamReader;

/** Where ARG: prints its folder, the variable HPX_WHERE, ARG and a line of its input, each on a line; "err" on stderr. Exit code 7. */
public class Where {
    public static void main(String[] a) throws Exception {
        String line = new BufferedReader(new InputStreamReader(System.in)).readLine();
        System.out.println(System.getProperty("user.dir") + "\n" + System.getenv("HPX_WHERE") + "\n" + a[0] + "\n" + line);
        System.err.println("err");
        System.exit(7);
    }
}
