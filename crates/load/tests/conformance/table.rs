//! The table of layers.

/// One line per layer: the name of its module of tests, and how to get jobs from it.
macro_rules! table {
    ($($layer:ident: $subject:expr,)*) => {
        $(mod $layer {
            use crate::{checks, subject};

            #[test]
            fn every_operation_is_reported_once() {
                checks::account(&$subject);
            }
            #[test]
            fn closed_loop_reaches_exactly_the_depth() {
                checks::depth(&$subject);
            }
            #[test]
            fn so_many_operations_are_so_many() {
                checks::ops(&$subject);
            }
            #[test]
            fn a_sequence_without_wrap_ends_with_the_space() {
                checks::space(&$subject);
            }
            #[test]
            fn the_seed_decides_the_operations() {
                checks::seed(&$subject);
            }
            #[test]
            fn lanes_share_the_work() {
                checks::lanes(&$subject);
            }
            #[test]
            fn errors_surface_by_class() {
                checks::errors(&$subject);
            }
            #[test]
            fn nothing_but_errors_ends_early() {
                checks::all_failed(&$subject);
            }
            #[test]
            fn a_cancel_is_obeyed() {
                checks::cancel(&$subject);
            }
            #[test]
            fn open_loop_accounts_for_every_arrival() {
                checks::arrivals(&$subject);
            }
            #[test]
            fn overdue_operations_are_counted_as_such() {
                checks::overdue(&$subject);
            }
        })*

        #[test]
        fn every_layer_of_the_product_is_in_the_table() {
            let here = [$(stringify!($layer)),*];
            for layer in fathom_load::layers::LAYERS {
                assert!(here.contains(&layer.name()), "add a line for {} to the table in tests/conformance/main.rs", layer.name());
            }
        }
    };
}

table! {
    null: subject::Null,
    delay: subject::Delayed,
    rados: subject::Rados::new(),
}
