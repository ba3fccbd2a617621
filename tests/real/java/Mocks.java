// SPDX-License-Identifier: BSD-2-Clause
package real;

import java.util.ArrayList;
import java.util.List;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.agent.ByteBuddyAgent;
import net.bytebuddy.dynamic.loading.ClassReloadingStrategy;
import net.bytebuddy.implementation.FixedValue;
import net.bytebuddy.matcher.ElementMatchers;
import org.mockito.Mockito;

/** Byte Buddy attaches to this JVM and redefines a class; Mockito retransforms those that it mocks. */
public class Mocks implements Real.Program {
    public static final class Shop {
        public String name() {
            return "shop";
        }

        public int price(String of) {
            return of.length();
        }
    }

    public static class Old {
        public String name() {
            return "old";
        }
    }

    @Override
    public void start(String[] args) {
        // the first question attaches
    }

    private static synchronized String redefined() {
        ByteBuddyAgent.install();
        String before = new Old().name();
        ClassReloadingStrategy strategy = ClassReloadingStrategy.fromInstalledAgent();
        new ByteBuddy().redefine(Old.class).method(ElementMatchers.named("name")).intercept(FixedValue.value("new")).make().load(Old.class.getClassLoader(), strategy);
        String during = new Old().name();
        try {
            strategy.reset(Old.class);
        } catch (java.io.IOException e) {
            return e.toString();
        }
        return before + during + new Old().name();
    }

    @Override
    public String answer(int n) {
        Shop shop = Mockito.mock(Shop.class);
        Mockito.when(shop.price("tea")).thenReturn(n).thenThrow(new IllegalStateException("sold out"));
        StringBuilder all = new StringBuilder().append(shop.price("tea")).append(shop.name()).append(new Shop().price("coffee"));
        try {
            shop.price("tea");
        } catch (IllegalStateException e) {
            all.append(e.getMessage());
        }
        Mockito.verify(shop, Mockito.times(2)).price("tea");
        List<Object> list = Mockito.spy(new ArrayList<>());
        list.add(n);
        Mockito.doReturn(7).when(list).size();
        return all.append(list).append(list.size()).append(n % 8 == 0 ? redefined() : "").toString();
    }
}
