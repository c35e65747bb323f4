package io.github.openchronoscope.arm40.bench;

import io.github.openchronoscope.arm40.MetricFactory;
import io.github.openchronoscope.arm40.TransactionFactory;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntUnaryOperator;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.Recording;
import jdk.jfr.StackTrace;
import org.opengroup.arm40.metric.ArmMetric;
import org.opengroup.arm40.metric.ArmMetricDefinition;
import org.opengroup.arm40.metric.ArmMetricFactory;
import org.opengroup.arm40.metric.ArmMetricGauge32;
import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.metric.ArmTransactionWithMetrics;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmTransaction;
import org.opengroup.arm40.transaction.ArmTransactionDefinition;
import org.opengroup.arm40.transaction.ArmTransactionFactory;

/**
 * What a start/stop pair costs, in nanoseconds, beside JFR's event and two reads of the clock, all
 * in one process and in turn: round after round each candidate runs once, so that whatever
 * disturbs the machine disturbs all of them. The median of the rounds counts; on a machine that is
 * not idle the least one is nearer to the truth. {@code --json} prints JSON.
 */
public final class PairBench {
    private static final int WARM_ROUNDS = 20;
    private static final int ROUNDS = 61;
    private static final int PAIRS = 50_000;
    private static final String LIMIT = "two System.nanoTime";

    private PairBench() {}

    /** An event as JFR's documentation shows it, without its stack trace. */
    @Name("chronoscope.bench.Pair")
    @StackTrace(false)
    static final class PairEvent extends Event {}

    /** The same with a stack trace, which is JFR's default. */
    @Name("chronoscope.bench.PairWithStack")
    static final class PairWithStackEvent extends Event {}

    /** What is measured, in the order of the table. Each takes a count of pairs. */
    private static Map<String, IntUnaryOperator> candidates() {
        ArmTransactionFactory factory = new TransactionFactory();
        ArmApplicationDefinition definition =
                factory.newArmApplicationDefinition("Bench", null, null);
        ArmApplication application = factory.newArmApplication(definition, null, null, null);
        ArmTransactionDefinition pair =
                factory.newArmTransactionDefinition(definition, "pair", null, null);
        ArmTransaction reused = factory.newArmTransaction(application, pair);
        ArmTransaction parent = factory.newArmTransaction(application, pair);
        ArmTransaction child = factory.newArmTransaction(application, pair);
        if (parent.start() < 0) {
            throw new IllegalStateException(parent.getErrorMessage(parent.getErrorCode()));
        }
        ArmCorrelator correlator = parent.getCorrelator();
        ArmTransactionWithMetrics measured = withGauge(application, definition);
        ArmMetricGauge32 value = (ArmMetricGauge32) measured.getMetricGroup().getMetric(0);

        Map<String, IntUnaryOperator> all = new LinkedHashMap<>();
        all.put(LIMIT, pairs -> {
            long sum = 0;
            for (int i = 0; i < pairs; i++) {
                sum += -System.nanoTime() + System.nanoTime();
            }
            return (int) sum;
        });
        all.put("ARM start and stop", pairs -> {
            int sum = 0;
            for (int i = 0; i < pairs; i++) {
                sum += reused.start() + reused.stop(ArmConstants.STATUS_GOOD);
            }
            return sum;
        });
        all.put("ARM, a new object each", pairs -> {
            int sum = 0;
            for (int i = 0; i < pairs; i++) {
                ArmTransaction each = factory.newArmTransaction(application, pair);
                sum += each.start() + each.stop(ArmConstants.STATUS_GOOD);
            }
            return sum;
        });
        all.put("ARM under a correlator", pairs -> {
            int sum = 0;
            for (int i = 0; i < pairs; i++) {
                sum += child.start(correlator) + child.stop(ArmConstants.STATUS_GOOD);
            }
            return sum;
        });
        all.put("ARM with its correlator's bytes taken", pairs -> {
            int sum = 0;
            for (int i = 0; i < pairs; i++) {
                sum += reused.start();
                sum += reused.getCorrelator().getBytes().length;
                reused.stop(ArmConstants.STATUS_GOOD);
            }
            return sum > 0 ? 0 : 1;
        });
        all.put("ARM with a metric", pairs -> {
            int sum = 0;
            for (int i = 0; i < pairs; i++) {
                value.set(i);
                sum += measured.start() + measured.stop(ArmConstants.STATUS_GOOD);
            }
            return sum;
        });
        all.put("JFR event, committed, no stack", pairs -> {
            for (int i = 0; i < pairs; i++) {
                PairEvent event = new PairEvent();
                event.begin();
                event.end();
                event.commit();
            }
            return 0;
        });
        all.put("JFR event, committed, with stack (default)", pairs -> {
            for (int i = 0; i < pairs; i++) {
                PairWithStackEvent event = new PairWithStackEvent();
                event.begin();
                event.end();
                event.commit();
            }
            return 0;
        });
        return all;
    }

    private static ArmTransactionWithMetrics withGauge(
            ArmApplication application, ArmApplicationDefinition definition) {
        ArmMetricFactory factory = new MetricFactory();
        ArmMetricGauge32 gauge = factory.newArmMetricGauge32(factory.newArmMetricGauge32Definition(
                definition, "gauge", null, ArmMetricDefinition.METRIC_USE_GENERAL, null));
        ArmMetricGroupDefinition group = factory.newArmMetricGroupDefinition(
                new ArmMetricDefinition[] {gauge.getDefinition()});
        return factory.newArmTransactionWithMetrics(application,
                factory.newArmTransactionWithMetricsDefinition(
                        definition, "pair with a metric", null, group, null),
                factory.newArmMetricGroup(group, new ArmMetric[] {gauge}));
    }

    /**
     * Measures and prints.
     *
     * @param arguments {@code --json} or nothing
     */
    public static void main(String[] arguments) {
        Map<String, IntUnaryOperator> candidates = candidates();
        double[][] rounds = new double[candidates.size()][ROUNDS];
        try (Recording recording = new Recording()) {
            recording.setToDisk(false);
            recording.enable(PairEvent.class).withoutThreshold();
            recording.enable(PairWithStackEvent.class).withoutThreshold();
            recording.start();
            for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
                int index = 0;
                for (Map.Entry<String, IntUnaryOperator> each : candidates.entrySet()) {
                    double nanos = nanosOfPair(each.getKey(), each.getValue());
                    if (round >= 0) {
                        rounds[index][round] = nanos;
                    }
                    index++;
                }
            }
        }
        print(candidates.keySet().toArray(new String[0]), rounds,
                Arrays.asList(arguments).contains("--json"));
    }

    private static double nanosOfPair(String name, IntUnaryOperator candidate) {
        long before = System.nanoTime();
        int result = candidate.applyAsInt(PAIRS);
        long after = System.nanoTime();
        if (result < 0 || result != 0 && !name.equals(LIMIT)) {
            throw new IllegalStateException(name + " did not work");
        }
        return (double) (after - before) / PAIRS;
    }

    private static double[] sorted(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted;
    }

    private static void print(String[] names, double[][] rounds, boolean json) {
        double limit = sorted(rounds[0])[ROUNDS / 2];
        double leastLimit = sorted(rounds[0])[0];
        StringBuilder out = new StringBuilder(json
                ? "{\"version\":1,\"java_pair\":["
                : String.format("%-44s %9s %7s %9s %7s%n",
                        "Java, a pair", "median ns", "ratio", "least ns", "ratio"));
        String line = json
                ? "{\"name\":\"%s\",\"ns\":%.1f,\"ratio\":%.2f,\"ns_min\":%.1f,\"ratio_min\":%.2f}"
                : "%-44s %9.1f %7.2f %9.1f %7.2f%n";
        for (int i = 0; i < names.length; i++) {
            double[] nanos = sorted(rounds[i]);
            double median = nanos[ROUNDS / 2];
            out.append(json && i > 0 ? "," : "").append(String.format(Locale.ROOT, line, names[i],
                    median, median / limit, nanos[0], nanos[0] / leastLimit));
        }
        System.out.println(json ? out.append("]}").toString() : out.toString().stripTrailing());
    }
}
