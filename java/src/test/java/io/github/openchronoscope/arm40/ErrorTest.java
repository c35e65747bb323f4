package io.github.openchronoscope.arm40;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmErrorCallback;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityProperties;
import org.opengroup.arm40.transaction.ArmInterface;
import org.opengroup.arm40.transaction.ArmTransaction;

/** Wrong arguments are error codes, never exceptions. */
class ErrorTest {
    private static final int ROUNDS = 30_000;
    private final Arm arm = new Arm("Errors");

    @Test
    void everyCodeHasAMessage() {
        for (ErrorCode error : ErrorCode.values()) {
            assertNotNull(arm.transactions.getErrorMessage(error.code()));
        }
        assertNotNull(arm.transactions.getErrorMessage(Native.stop(12345, 0)));
        for (int unknown : new int[] {0, 1, -1, -4711, Integer.MIN_VALUE}) {
            assertNull(arm.transactions.getErrorMessage(unknown));
        }
    }

    @Test
    void theCallbackHearsOfErrors() {
        List<String> heard = new ArrayList<>();
        ArmErrorCallback callback = (object, interfaceName, method) -> {
            heard.add(interfaceName + "." + method + " " + object.getErrorCode());
            object.setErrorCode(-7);
        };
        ArmTransaction transaction = arm.newTransaction("heard");
        assertTrue(arm.transactions.setErrorCallback(callback));
        assertEquals(-7, transaction.stop(ArmConstants.STATUS_GOOD));
        ArmID id = arm.transactions.newArmID(new byte[15]);
        assertEquals(ErrorCode.ID.code(), id.getErrorCode());
        assertEquals(-7, arm.transactions.getErrorCode());
        assertEquals(List.of("ArmTransaction.stop " + ErrorCode.NOT_STARTED.code(),
                "ArmTransactionFactory.newArmID " + ErrorCode.ID.code()), heard);
        arm.transactions.setErrorCallback((object, interfaceName, method) -> {
            throw new IllegalStateException("on purpose");
        });
        assertEquals(ErrorCode.NOT_STARTED.code(), transaction.stop(ArmConstants.STATUS_GOOD));
    }

    @Test
    void startingTwiceDiscardsTheFirst() {
        ArmTransaction transaction = arm.newTransaction("twice");
        transaction.start();
        ArmCorrelator first = transaction.getCorrelator();
        assertEquals(ErrorCode.ALREADY_STARTED.code(), transaction.start());
        assertNotEquals(first, transaction.getCorrelator());
        assertEquals(0, transaction.stop(ArmConstants.STATUS_GOOD));
        assertEquals(ErrorCode.NOT_STARTED.code(), transaction.stop(ArmConstants.STATUS_GOOD));
        Rings.only("twice");
    }

    /** What is wrong with the parent or the status costs those, not the measurement. */
    @Test
    void measuredAllTheSame() {
        ArmTransaction transaction = arm.newTransaction("all the same");
        for (byte[] bad : new byte[][] {{}, {0, 3, 0, 0}, {0, 5, 0, 0}, {2, 1, 0, 0}, {-1, -1}}) {
            assertEquals(ErrorCode.CORRELATOR.code(), transaction.start(bad));
            assertNull(transaction.getParentCorrelator());
            assertEquals(ErrorCode.STATUS.code(), transaction.stop(17));
            assertEquals(ArmConstants.STATUS_UNKNOWN, transaction.getStatus());
        }
        assertEquals(ErrorCode.CORRELATOR.code(),
                transaction.start(arm.transactions.newArmCorrelator(new byte[3])));
        transaction.stop(ArmConstants.STATUS_GOOD);
        assertEquals(6, Rings.own("all the same").size());
    }

    @Test
    void tokens() {
        byte[] sixteen = "0123456789abcdef".getBytes();
        ArmID id = arm.transactions.newArmID(("x" + new String(sixteen)).getBytes(), 1);
        ArmID same = arm.transactions.newArmID(sixteen);
        assertEquals(id, same);
        assertEquals(id.hashCode(), same.hashCode());
        sixteen[0]++;
        assertEquals('0', same.getBytes()[0]);
        byte[] room = new byte[17];
        assertTrue(id.copyBytes(room, 1));
        assertFalse(id.copyBytes(room, 2));
        assertFalse(id.copyBytes(room, -1));
        assertFalse(id.copyBytes(null));
        assertEquals('f', room[16]);
        byte[] correlator = {0, 4, 1, 0, 77};
        ArmCorrelator cut = arm.transactions.newArmCorrelator(correlator);
        assertArrayEquals(new byte[] {0, 4, 1, 0}, cut.getBytes());
        assertEquals(ErrorCode.ID.code(),
                arm.transactions.newArmID(new byte[16]).getErrorCode());
    }

    @Test
    void identityProperties() {
        String[] names = {"a", "b", "a", "", null, "c"};
        String[] values = {"1", null, "3", "4", "5"};
        ArmIdentityProperties properties =
                arm.transactions.newArmIdentityProperties(names, values, names);
        assertEquals(0, properties.getErrorCode());
        names[0] = "changed";
        assertEquals("a", properties.getIdentityName(0));
        assertEquals("1", properties.getIdentityValue(0));
        for (int i : new int[] {-1, 1, 2, 3, 4, 5, 20}) {
            assertNull(properties.getIdentityName(i));
            assertNull(properties.getIdentityValue(i));
        }
        assertEquals("b", properties.getContextName(1));
        assertNull(properties.getContextName(2));
        assertEquals(ErrorCode.TOO_MANY.code(), arm.transactions.newArmIdentityProperties(
                new String[21], null, null).getErrorCode());
        ArmIdentityProperties cut = arm.transactions.newArmIdentityProperties(
                null, null, new String[] {"x".repeat(126) + "\ud83d\ude00"});
        assertEquals(ErrorCode.TOO_LONG.code(), cut.getErrorCode());
        assertEquals("x".repeat(126), cut.getContextName(0));
    }

    /**
     * Calls methods of all objects there are, in any order, with arguments of every kind: those
     * that calls returned, those of another implementation, null, odd numbers, garbage.
     */
    @Test
    void nothingThrows() {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        List<Object> objects = new ArrayList<>(List.of(arm.transactions, arm.metrics, arm.reports,
                arm.definition, arm.application, arm.define("garbage"), "text",
                "y".repeat(5000), new byte[0], new byte[600], new byte[] {0, 4, 0, 0}));
        Set<String> called = Collections.newSetFromMap(new java.util.HashMap<>());
        for (int round = 0; round < ROUNDS; round++) {
            Object object = objects.get(random.nextInt(objects.size()));
            if (!(object instanceof ArmInterface)) {
                continue;
            }
            List<Method> methods = methodsOf(object.getClass());
            Method method = methods.get(random.nextInt(methods.size()));
            Object[] arguments = new Object[method.getParameterCount()];
            for (int i = 0; i < arguments.length; i++) {
                arguments[i] = argument(method.getParameterTypes()[i], objects, random);
            }
            try {
                Object result = method.invoke(object, arguments);
                boolean isNew = result instanceof ArmInterface && !objects.contains(result);
                if (method.getName().startsWith("new")) {
                    assertNotNull(result, method.getName());
                }
                if (isNew && objects.size() < 500) {
                    objects.add(result);
                }
                called.add(method.getDeclaringClass().getSimpleName() + "." + method.getName());
            } catch (InvocationTargetException error) {
                throw new AssertionError("seed " + seed + ": " + method, error.getCause());
            } catch (IllegalAccessException error) {
                throw new AssertionError(error);
            }
        }
        assertTrue(called.size() > 100, called.toString());
    }

    private static List<Method> methodsOf(Class<?> ours) {
        List<Method> methods = new ArrayList<>();
        Set<Class<?>> seen = Collections.newSetFromMap(new IdentityHashMap<>());
        Deque<Class<?>> open = new ArrayDeque<>();
        for (Class<?> each = ours; each != null; each = each.getSuperclass()) {
            open.addAll(List.of(each.getInterfaces()));
        }
        while (!open.isEmpty()) {
            Class<?> one = open.pop();
            if (seen.add(one) && one.getName().startsWith("org.opengroup")) {
                methods.addAll(List.of(one.getDeclaredMethods()));
                open.addAll(List.of(one.getInterfaces()));
            }
        }
        return methods;
    }

    private static Object argument(Class<?> type, List<Object> objects, Random random) {
        int[] numbers = {0, 1, 2, 6, 7, 19, 20, -1, 300, Integer.MIN_VALUE, Integer.MAX_VALUE};
        int number = numbers[random.nextInt(numbers.length)];
        if (type == int.class) {
            return number;
        } else if (type == short.class) {
            return (short) number;
        } else if (type == long.class) {
            return random.nextBoolean() ? (long) number : random.nextLong();
        } else if (type == float.class) {
            return Float.intBitsToFloat(random.nextInt());
        } else if (type == boolean.class) {
            return random.nextBoolean();
        } else if (random.nextInt(8) == 0) {
            return null;
        } else if (type.isArray() && type != byte[].class) {
            Object array = Array.newInstance(type.getComponentType(), random.nextInt(25));
            for (int i = 0; i < Array.getLength(array); i++) {
                Array.set(array, i, argument(type.getComponentType(), objects, random));
            }
            return array;
        }
        List<Object> fitting = new ArrayList<>();
        for (Object each : objects) {
            if (type.isInstance(each)) {
                fitting.add(each);
            }
        }
        boolean others = type.isInterface() && (fitting.isEmpty() || random.nextInt(8) == 0);
        if (others) {
            return ofOthers(type);
        }
        return fitting.isEmpty() ? null : fitting.get(random.nextInt(fitting.size()));
    }

    /** An object of another implementation: all of its methods return nothing. */
    private static Object ofOthers(Class<?> type) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
                (proxy, method, arguments) -> {
                    Class<?> result = method.getReturnType();
                    if (result == boolean.class) {
                        return false;
                    }
                    return result == int.class ? (Object) 0 : result == short.class
                            ? (Object) (short) 0 : result == long.class ? (Object) 0L : null;
                });
    }
}
