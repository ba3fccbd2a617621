import java.lang.reflect.Field;

/** Static fields that were read by reflection: up to JDK 17, on 21 with a property, an object of the JDK with a field that HotSpot hides has read each. */
public class HeapReflect {
    interface Constant {
        int VALUE = 5;
    }

    static int plain = 4;
    static Object[] kept;

    public static void main(String[] args) throws Exception {
        Field constant = Constant.class.getDeclaredField("VALUE"), changes = HeapReflect.class.getDeclaredField("plain");
        kept = new Object[] {constant, changes};
        if (constant.getInt(null) + changes.getInt(null) != 9) {
            throw new AssertionError();
        }
        HeapTell.untilStop();
    }
}
