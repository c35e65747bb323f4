//! Databases that rows are exported into, by URL.

use std::path::PathBuf;
use std::str::FromStr;

/// A database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// A file.
    Sqlite(PathBuf),
    /// A server, by the URL that `psql` takes. It has no password.
    Postgres(String),
}

impl FromStr for Database {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            return match path {
                "" => Err("expected sqlite:FILE"),
                path => Ok(Self::Sqlite(PathBuf::from(path))),
            };
        }
        let rest = text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"));
        let Some(rest) = rest else {
            return Err("expected sqlite:FILE or postgresql://HOST/DATABASE");
        };
        // The command line of psql, and that of this program, can be read by everybody on the host.
        let user = rest.split(['/', '?']).next().and_then(|host| host.rsplit_once('@'));
        let has_password = user.is_some_and(|(user, _)| user.contains(':'))
            || rest.split(['?', '&']).skip(1).any(|part| part.starts_with("password="));
        match has_password {
            true => Err("other users of this host can read a password in a command line: put it \
                         into PGPASSWORD or ~/.pgpass, where psql finds it"),
            false => Ok(Self::Postgres(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_a_file_or_a_server() {
        assert_eq!("sqlite:a b.db".parse(), Ok(Database::Sqlite("a b.db".into())));
        for url in ["postgres://h/d", "postgresql://me@h:5432/d?sslmode=require", "postgresql:///d"]
        {
            assert_eq!(url.parse(), Ok(Database::Postgres(url.to_owned())));
        }
        for wrong in ["", "sqlite:", "mysql://h/d", "a.db"] {
            assert!(wrong.parse::<Database>().unwrap_err().starts_with("expected"), "{wrong}");
        }
        for secret in ["postgres://me:secret@h/d", "postgres://h/d?user=a&password=b"] {
            assert!(secret.parse::<Database>().unwrap_err().contains("PGPASSWORD"), "{secret}");
        }
    }
}
