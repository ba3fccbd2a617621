// SPDX-License-Identifier: BSD-2-Clause
/** Of which Large makes classes that the VM cannot link: to verify `base` it needs Gone, which is missing. */
public class LargeOptional {
    static class Base { }
    static class Gone extends Base { }

    Base base(Gone g) { return g; }
}
