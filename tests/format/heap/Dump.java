// SPDX-License-Identifier: BSD-2-Clause
// Dump FILE: writes a heap dump of itself.
import com.sun.management.HotSpotDiagnosticMXBean;
import java.lang.management.ManagementFactory;

public class Dump {
    static final Object[] KEPT = new Object[7];

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 5; i++) {
            KEPT[i] = new Dump();
        }
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(args[0], true);
    }
}
