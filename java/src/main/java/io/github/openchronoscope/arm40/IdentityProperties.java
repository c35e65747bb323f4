package io.github.openchronoscope.arm40;

import java.util.HashSet;
import java.util.Set;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmIdentityProperties;

/** Identity properties and the names of context properties. */
class IdentityProperties extends ArmObject implements ArmIdentityProperties {
    private final String[] names;
    private final String[] values;
    private final String[] contextNames;

    IdentityProperties(Listener listener, String[] identityNames, String[] identityValues,
            String[] contextNames, Problem problem) {
        super(listener);
        this.names = problem.texts(identityNames, ArmConstants.PROPERTY_NAME_MAX_LENGTH);
        this.values = problem.texts(identityValues, ArmConstants.PROPERTY_VALUE_MAX_LENGTH);
        this.contextNames = problem.texts(contextNames, ArmConstants.PROPERTY_NAME_MAX_LENGTH);
        hideUnusable(names);
        hideUnusable(this.contextNames);
    }

    /** Of a repeated name the first counts, and an empty one does not. */
    private static void hideUnusable(String[] names) {
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < names.length; i++) {
            if (names[i] != null && (names[i].isEmpty() || !seen.add(names[i]))) {
                names[i] = null;
            }
        }
    }

    @Override
    public String getIdentityName(int index) {
        return isPair(index) ? names[index] : null;
    }

    @Override
    public String getIdentityValue(int index) {
        return isPair(index) ? values[index] : null;
    }

    @Override
    public String getContextName(int index) {
        return index >= 0 && index < contextNames.length ? contextNames[index] : null;
    }

    private boolean isPair(int index) {
        return index >= 0 && index < names.length && index < values.length
                && names[index] != null && values[index] != null;
    }

    /** Pairs, then context names with their gaps, which keeps values at the same index. */
    final void write(Payload payload) {
        int count = 0;
        for (int i = 0; i < names.length; i++) {
            count += isPair(i) ? 1 : 0;
        }
        payload.byteOf(count);
        for (int i = 0; i < names.length; i++) {
            if (isPair(i)) {
                payload.text(names[i]).text(values[i]);
            }
        }
        payload.byteOf(contextNames.length);
        for (String name : contextNames) {
            payload.text(name);
        }
    }

    @Override
    String interfaceName() {
        return "ArmIdentityProperties";
    }
}
