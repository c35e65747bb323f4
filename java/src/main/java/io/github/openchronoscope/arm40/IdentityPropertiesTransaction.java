package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;

/** The properties of a transaction class: with a URI. */
final class IdentityPropertiesTransaction extends IdentityProperties
        implements ArmIdentityPropertiesTransaction {
    private final String uri;

    IdentityPropertiesTransaction(Listener listener, String[] identityNames,
            String[] identityValues, String[] contextNames, String uri, Problem problem) {
        super(listener, identityNames, identityValues, contextNames, problem);
        this.uri = problem.text(uri, ArmConstants.PROPERTY_URI_MAX_LENGTH);
    }

    @Override
    public String getURIValue() {
        return uri;
    }

    @Override
    String interfaceName() {
        return "ArmIdentityPropertiesTransaction";
    }
}
