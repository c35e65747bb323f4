package org.opengroup.arm40.transaction;

/** The identity properties of a transaction: one more, a URI. */
public interface ArmIdentityPropertiesTransaction extends ArmIdentityProperties {
    /**
     * The URI that belongs to the identity.
     *
     * @return the URI, or null
     */
    String getURIValue();
}
