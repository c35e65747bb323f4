package org.opengroup.arm40.transaction;

/** Sixteen bytes that identify a definition, a user or an address. */
public interface ArmID extends ArmToken {
}
