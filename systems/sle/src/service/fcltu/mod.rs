//! Forward CLTU: provider and user. Source: CCSDS 912.1.
