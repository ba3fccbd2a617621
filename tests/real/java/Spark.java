// SPDX-License-Identifier: BSD-2-Clause
package real;

import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.spark.sql.SparkSession;

/** Spark in this JVM: a query of each question makes code, which is compiled, and runs it in several tasks. */
public class Spark implements Real.Program {
    private SparkSession spark;

    @Override
    public void start(String[] args) {
        Configurator.setRootLevel(Level.OFF);
        spark = SparkSession.builder().master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "2").config("spark.driver.host", "localhost")
                .config("spark.sql.warehouse.dir", "warehouse").getOrCreate();
        spark.range(0, 5000, 1, 2).selectExpr("id", "id * 7919 % 1000 as k", "concat('name', id % 97) as name").createOrReplaceTempView("t");
    }

    @Override
    public String answer(int n) {
        return spark.sql("select name, count(*) c, sum(k + " + n + ") s from t where id % " + (2 + n % 7) + " = 0 group by name order by s desc, name limit 5").collectAsList().toString();
    }
}
