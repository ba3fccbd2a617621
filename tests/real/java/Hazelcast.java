// SPDX-License-Identifier: BSD-2-Clause
package real;

import com.hazelcast.aggregation.Aggregators;
import com.hazelcast.config.Config;
import com.hazelcast.config.IndexType;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.EntryProcessor;
import com.hazelcast.map.IMap;
import com.hazelcast.query.Predicates;
import java.io.Serializable;

/** One member without others: what is stored travels through its partitions' threads as bytes. */
public class Hazelcast implements Real.Program {
    private static final int PEOPLE = 1000;
    private IMap<Integer, Person> people;
    private IMap<Integer, String> notes;

    public static final class Person implements Serializable {
        private static final long serialVersionUID = 1;
        public final String name;
        public final int city;

        Person(String name, int city) {
            this.name = name;
            this.city = city;
        }

        public int getCity() {
            return city;
        }
    }

    @Override
    public void start(String[] args) {
        Config c = new Config();
        c.setProperty("hazelcast.logging.type", "none");
        c.setProperty("hazelcast.phone.home.enabled", "false");
        c.setProperty("hazelcast.shutdownhook.enabled", "false");
        c.getNetworkConfig().setPortAutoIncrement(true).getJoin().getAutoDetectionConfig().setEnabled(false);
        c.getNetworkConfig().getJoin().getMulticastConfig().setEnabled(false);
        HazelcastInstance h = com.hazelcast.core.Hazelcast.newHazelcastInstance(c);
        people = h.getMap("people");
        notes = h.getMap("notes");
        people.addIndex(new com.hazelcast.config.IndexConfig(IndexType.SORTED, "city"));
        for (int i = 0; i < PEOPLE; i++) {
            people.set(i, new Person("name" + i * 7919 % 1000, i * 31 % 20));
        }
    }

    @Override
    public String answer(int n) {
        notes.set(n, "note " + n);
        String before = notes.executeOnKey(n, (EntryProcessor<Integer, String, String>) e -> e.setValue(e.getValue() + " by " + e.getKey()));
        return before + ' ' + notes.remove(n) + ' ' + people.aggregate(Aggregators.count(), Predicates.between("city", n % 20, n % 20 + 3)) + ' ' + people.get(n % PEOPLE).name;
    }
}
