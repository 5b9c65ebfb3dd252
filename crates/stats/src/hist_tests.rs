use super::*;
use base64::{Engine, engine::general_purpose::STANDARD};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use proptest::prelude::*;
use std::io::{Read, Write};

fn hist(values: &[u64]) -> Hist {
    let mut hist = Hist::new();
    values.iter().for_each(|&ns| hist.record(ns));
    hist
}

fn oracle(values: &[u64]) -> hdrhistogram::Histogram<u64> {
    let mut hist = hdrhistogram::Histogram::new_with_bounds(1, HIGHEST_NS, 3).unwrap();
    values.iter().for_each(|&ns| hist.saturating_record(ns.min(HIGHEST_NS)));
    hist
}

fn decode_like(text: &str, hist: &Hist) -> Result<Hist, StatsError> {
    Hist::decode(text, hist.sum_ns(), hist.min_ns(), hist.max_ns())
}

/// Latencies over the whole range, as often small as large.
fn latency() -> impl Strategy<Value = u64> {
    (0u32..46, any::<u64>()).prop_map(|(bits, raw)| raw & ((1 << bits) - 1))
}

fn latencies() -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        prop::collection::vec(latency(), 0..300),
        // One mode, as a device has it.
        prop::collection::vec(50_000u64..200_000, 1..2000),
    ]
}

#[test]
fn the_layout_is_that_of_hdrhistogram() {
    assert_eq!(LEN, oracle(&[]).distinct_values());
    let mut expected_low = 0;
    for index in 0..LEN {
        assert_eq!(low_of(index), expected_low);
        assert_eq!(index_of(low_of(index)), index);
        assert_eq!(index_of(high_of(index)), index);
        expected_low = high_of(index) + 1;
    }
    assert!(index_of(HIGHEST_NS) < LEN);
}

#[test]
fn an_empty_histogram_has_no_numbers() {
    let empty = Hist::new();
    assert_eq!((empty.count(), empty.sum_ns(), empty.min_ns(), empty.max_ns()), (0, 0, 0, 0));
    assert_eq!((empty.mean_ns(), empty.quantile_ns(0.5)), (None, None));
    assert_eq!((empty.spectrum(), empty.encode(), empty.buckets().count()), (vec![], String::new(), 0));
    assert_eq!(Hist::decode("", 0, 0, 0), Ok(empty));
    assert!(Hist::decode("", 1, 1, 1).is_err());
}

#[test]
fn values_above_the_range_saturate_and_are_counted() {
    let hist = hist(&[5, HIGHEST_NS, HIGHEST_NS + 1, u64::MAX]);
    assert_eq!((hist.count(), hist.overflow(), hist.min_ns(), hist.max_ns()), (4, 2, 5, u64::MAX));
    assert_eq!(hist.sum_ns(), u64::MAX);
    assert_eq!(hist.quantile_ns(1.0), Some(u64::MAX));
    assert_eq!((hist.count_at_most(4), hist.count_at_most(5), hist.count_at_most(u64::MAX)), (0, 1, 4));
    assert_eq!(decode_like(&hist.encode(), &hist).unwrap().quantile_ns(1.0), Some(u64::MAX));
}

#[test]
fn quantiles_by_hand() {
    let hist = hist(&(1..=100).collect::<Vec<_>>());
    for (q, ns) in
        [(0.0, 1), (0.001, 1), (0.01, 1), (0.07, 7), (0.5, 50), (0.505, 51), (0.99, 99), (1.0, 100), (7.0, 100)]
    {
        assert_eq!(hist.quantile_ns(q), Some(ns), "{q}");
    }
    assert_eq!(hist.quantile_ns(f64::NAN), None);
    assert_eq!(hist.mean_ns(), Some(50.5));
    assert_eq!([0, 1, 50, 100, u64::MAX].map(|ns| hist.count_at_most(ns)), [0, 1, 50, 100, 100]);
}

#[test]
fn the_spectrum_reaches_five_nines() {
    let hist = hist(&(0..1_000_000).map(|i| 100_000 + i).collect::<Vec<_>>());
    let spectrum = hist.spectrum();
    assert!((60..=100).contains(&spectrum.len()), "{}", spectrum.len());
    assert!(spectrum.is_sorted_by(|a, b| a.0 < b.0 && a.1 <= b.1));
    assert_eq!(spectrum[spectrum.len() - 2].0, 0.99999);
    assert_eq!(spectrum.last(), Some(&(1.0, 1_099_999)));
    for (q, ns) in spectrum {
        assert_eq!(hist.quantile_ns(q), Some(ns));
    }
}

#[test]
fn the_reference_reads_ours_and_the_other_way_round() {
    let values: Vec<u64> = (0..5000).map(|i| 60_000 + i * i).collect();
    let ours = hist(&values);
    let bytes = STANDARD.decode(ours.encode()).unwrap();
    let read: hdrhistogram::Histogram<u64> = Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
    assert_eq!(read, oracle(&values));
    let mut theirs = Vec::new();
    V2DeflateSerializer::new().serialize(&oracle(&values), &mut theirs).unwrap();
    assert_eq!(decode_like(&STANDARD.encode(theirs), &ours), Ok(ours));
}

fn packed(plain: &[u8]) -> String {
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    deflate.write_all(plain).unwrap();
    let data = deflate.finish().unwrap();
    let mut record = 0x1c84_9314u32.to_be_bytes().to_vec();
    record.extend((data.len() as u32).to_be_bytes());
    record.extend(data);
    STANDARD.encode(record)
}

fn plain(digits: u32, highest: u64, payload: &[u8]) -> Vec<u8> {
    let mut plain = 0x1c84_9313u32.to_be_bytes().to_vec();
    plain.extend((payload.len() as u32).to_be_bytes());
    plain.extend(0u32.to_be_bytes());
    plain.extend(digits.to_be_bytes());
    plain.extend(1u64.to_be_bytes());
    plain.extend(highest.to_be_bytes());
    plain.extend(1f64.to_be_bytes());
    plain.extend(payload);
    plain
}

#[test]
fn hostile_records_are_refused() {
    // Value 7, once: seven empty buckets and a one.
    assert_eq!(Hist::decode(&packed(&plain(3, HIGHEST_NS, &[13, 2])), 7, 7, 7), Ok(hist(&[7])));
    let all_ones = [0xff; 9];
    let mut two_halves = Vec::new();
    for _ in 0..2 {
        two_halves.extend([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
    }
    let mut lying = plain(3, HIGHEST_NS, &[13, 2]);
    lying[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
    let cases = [
        ("other digits", plain(5, HIGHEST_NS, &[13, 2])),
        ("other range", plain(3, u64::MAX / 2, &[13, 2])),
        ("claims 4 GiB", lying),
        ("smallest negative", plain(3, HIGHEST_NS, &all_ones)),
        ("number cut short", plain(3, HIGHEST_NS, &[13, 0x82])),
        ("count overflow", plain(3, HIGHEST_NS, &two_halves)),
        ("nothing in it", plain(3, HIGHEST_NS, &[])),
        ("only zeros", plain(3, HIGHEST_NS, &[0, 0, 0])),
        ("too many buckets", plain(3, HIGHEST_NS, &vec![2; LEN + 1])),
        ("zeros beyond the end", plain(3, HIGHEST_NS, &[13, 2, 0xff, 0xff, 0x7f])),
        ("bomb", plain(3, HIGHEST_NS, &vec![0; 50_000_000])),
        ("half a header", plain(3, HIGHEST_NS, &[])[..20].to_vec()),
    ];
    for (name, bytes) in cases {
        assert!(Hist::decode(&packed(&bytes), 7, 7, 7).is_err(), "{name}");
    }
    for text in ["x", "====", "AAAA", "HISTFAAAAAA=", &"A".repeat(1 << 20)] {
        assert!(Hist::decode(text, 7, 7, 7).is_err(), "{}", &text[..text.len().min(20)]);
    }
}

#[test]
fn exact_counters_must_fit_the_buckets() {
    let text = hist(&[10, 20]).encode();
    assert!(Hist::decode(&text, 30, 10, 20).is_ok());
    for (sum, min, max) in [(30, 11, 20), (30, 10, 21), (31, 10, 20), (29, 10, 20), (30, 20, 10), (0, 0, 0)] {
        assert!(Hist::decode(&text, sum, min, max).is_err(), "{sum} {min} {max}");
    }
}

proptest! {
    #[test]
    fn merging_is_recording_everything_in_one(a in latencies(), b in latencies()) {
        let mut merged = hist(&a);
        merged.merge(&hist(&b));
        prop_assert_eq!(&merged, &hist(&[a, b].concat()));
        merged.reset();
        prop_assert_eq!(merged, Hist::new());
    }

    #[test]
    fn quantiles_are_within_a_thousandth(mut values in latencies(), q in 0.0..=1.0f64) {
        values.retain(|&ns| ns <= HIGHEST_NS);
        prop_assume!(!values.is_empty());
        let found = hist(&values).quantile_ns(q).unwrap();
        values.sort_unstable();
        let exact = values[rank(q, values.len() as u64) as usize - 1];
        prop_assert!(found >= exact && (found - exact) as f64 <= exact as f64 * 0.001, "{} {}", found, exact);
        prop_assert!(found <= *values.last().unwrap());
    }

    #[test]
    fn counters_are_exact_and_buckets_complete(values in latencies()) {
        let hist = hist(&values);
        let values_ns: Vec<u64> = values.clone();
        prop_assert_eq!(hist.count(), values.len() as u64);
        prop_assert_eq!(hist.sum_ns(), values_ns.iter().sum::<u64>());
        prop_assert_eq!(hist.min_ns(), values.iter().copied().min().unwrap_or(0));
        prop_assert_eq!(hist.max_ns(), values.iter().copied().max().unwrap_or(0));
        for bucket in hist.buckets() {
            let inside = |ns: &u64| (bucket.low_ns..=bucket.high_ns).contains(ns);
            prop_assert_eq!(values.iter().filter(|ns| inside(ns)).count() as u64, bucket.count);
        }
        prop_assert_eq!(hist.buckets().map(|b| b.count).sum::<u64>(), hist.count());
    }

    #[test]
    fn a_stored_histogram_reads_back(values in latencies()) {
        let mut hist = hist(&values);
        let read = decode_like(&hist.encode(), &hist).unwrap();
        hist.overflow = 0;
        prop_assert_eq!(read, hist);
    }

    #[test]
    fn the_plain_form_is_byte_for_byte_that_of_the_reference(values in latencies()) {
        prop_assume!(!values.is_empty());
        let bytes = STANDARD.decode(hist(&values).encode()).unwrap();
        let mut ours = Vec::new();
        flate2::read::ZlibDecoder::new(&bytes[8..]).read_to_end(&mut ours).unwrap();
        let mut theirs = Vec::new();
        V2Serializer::new().serialize(&oracle(&values), &mut theirs).unwrap();
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn no_text_panics(text in "[A-Za-z0-9+/=]{0,64}", bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = Hist::decode(&text, 1, 1, 1);
        let _ = Hist::decode(&packed(&bytes), 1, 1, 1);
        prop_assert!(Hist::decode(&packed(&plain(3, HIGHEST_NS, &bytes)), 0, u64::MAX, 0).is_err());
    }
}
