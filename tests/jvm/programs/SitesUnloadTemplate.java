// SPDX-License-Identifier: BSD-2-Clause
/** A class that SitesUnload defines under other names: makes objects and arrays of itself. */
public class SitesUnloadTemplate implements Runnable {
    static Object held = new short[50];

    public void run() {
        held = new SitesUnloadTemplate[5];
        for (int i = 0; i < 10; i++) { held = new SitesUnloadTemplate(); }
    }
}
