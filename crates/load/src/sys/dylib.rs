//! One macro makes a table of C functions that is filled when first asked for.
//!
//! Linking at run time keeps one binary useful on machines without Ceph, and lets it use calls that only newer
//! releases have. A library is never closed: Ceph's threads and thread-local destructors outlive any handle.

/// Why a library can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// It isn't there.
    #[error("{library} is not installed on this machine: install it (apt install {package})")]
    Absent {
        /// Its name without prefix and version.
        library: &'static str,
        /// The package that brings it on Debian and Ubuntu.
        package: &'static str,
    },
    /// It is there and the dynamic linker refuses it.
    #[error("{library} can't be loaded ({why}): install it again (apt install --reinstall {package})")]
    Broken {
        /// Its name.
        library: &'static str,
        /// The package that brings it on Debian and Ubuntu.
        package: &'static str,
        /// The linker's words.
        why: String,
    },
    /// It lacks a function every supported release has.
    #[error("{soname} has no {symbol}: it is older than Ceph 16; install a newer {package}")]
    TooOld {
        /// The file's name.
        soname: &'static str,
        /// The first function that is missing.
        symbol: &'static str,
        /// The package to renew.
        package: &'static str,
    },
}

/// Opens the first of `sonames` that is there.
pub(super) fn open(
    sonames: &[&'static str],
    library: &'static str,
    package: &'static str,
) -> Result<(libloading::Library, &'static str), OpenError> {
    let mut broken = None;
    for soname in sonames {
        // SAFETY: the constructors of Ceph's libraries set up their own globals and nothing else.
        match unsafe { libloading::Library::new(*soname) } {
            Ok(found) => return Ok((found, soname)),
            Err(e) => {
                // The linker's own words are in the source of the error.
                let why = std::error::Error::source(&e).map_or_else(|| e.to_string(), ToString::to_string);
                // "librados.so.2: cannot open …: No such file" is absence; a missing dependency names another file.
                if !(why.contains(soname) && why.contains("No such file")) {
                    broken.get_or_insert(why);
                }
            }
        }
    }
    Err(match broken {
        Some(why) => OpenError::Broken { library, package, why },
        None => OpenError::Absent { library, package },
    })
}

/// Declares a struct of function pointers with a loader that names the first missing one. Functions in `optional`
/// may be missing.
macro_rules! dylib {
    ($(#[$m:meta])* $name:ident: $library:literal from $package:literal, $($soname:literal)|+ {
        $(fn $f:ident($($a:ident: $t:ty),* $(,)?) $(-> $r:ty)?;)*
        optional { $(fn $of:ident($($oa:ident: $ot:ty),* $(,)?) $(-> $or:ty)?;)* }
    }) => {
        $(#[$m])*
        pub(super) struct $name {
            $(pub(super) $f: unsafe extern "C" fn($($t),*) $(-> $r)?,)*
            $(pub(super) $of: Option<unsafe extern "C" fn($($ot),*) $(-> $or)?>,)*
        }
        impl $name {
            /// The table, loaded once per process.
            pub(super) fn get() -> Result<&'static $name, $crate::sys::dylib::OpenError> {
                static TABLE: std::sync::OnceLock<Result<$name, $crate::sys::dylib::OpenError>> =
                    std::sync::OnceLock::new();
                TABLE.get_or_init($name::load).as_ref().map_err(Clone::clone)
            }

            fn load() -> Result<$name, $crate::sys::dylib::OpenError> {
                let (library, soname) = $crate::sys::dylib::open(&[$($soname),+], $library, $package)?;
                let missing = |symbol| $crate::sys::dylib::OpenError::TooOld { soname, symbol, package: $package };
                let table = $name {
                    // SAFETY: the declarations above repeat those of the library's C header.
                    $($f: *unsafe { library.get(concat!(stringify!($f), "\0")) }.map_err(|_| missing(stringify!($f)))?,)*
                    // SAFETY: as above; a missing one stays `None`.
                    $($of: unsafe { library.get(concat!(stringify!($of), "\0")) }.ok().map(|found| *found),)*
                };
                std::mem::forget(library);
                Ok(table)
            }
        }
    };
}
pub(super) use dylib;

#[cfg(test)]
mod tests {
    use std::ffi::c_int;

    dylib! {
        #[allow(dead_code)]
        Absent: "librados" from "librados2", "libnosuch-fathom.so.9" { fn nope(); optional {} }
    }
    dylib! {
        #[allow(dead_code)]
        Old: "libc" from "libc6", "libc.so.6" {
            fn abs(n: c_int) -> c_int;
            fn fathom_no_such_function();
            optional {}
        }
    }
    dylib! {
        #[allow(dead_code)]
        Good: "libc" from "libc6", "libnosuch-fathom.so.9" | "libc.so.6" {
            fn abs(n: c_int) -> c_int;
            optional { fn labs(n: i64) -> i64; fn fathom_no_such_function(); }
        }
    }

    #[test]
    fn an_absent_library_says_what_to_install() {
        let text = Absent::get().err().unwrap().to_string();
        assert_eq!(text, "librados is not installed on this machine: install it (apt install librados2)");
    }

    #[test]
    fn the_first_missing_function_is_named() {
        let text = Old::get().err().unwrap().to_string();
        assert!(text.contains("libc.so.6 has no fathom_no_such_function"), "{text}");
    }

    #[test]
    fn the_next_name_is_tried_and_optional_functions_may_be_missing() {
        let table = Good::get().unwrap();
        // SAFETY: the C library's `abs`.
        assert_eq!(unsafe { (table.abs)(-3) }, 3);
        assert!(table.labs.is_some());
        assert!(table.fathom_no_such_function.is_none());
    }
}
