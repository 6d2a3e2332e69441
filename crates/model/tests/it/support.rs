use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type, Int32Type};
use arrow_array::{Array, ArrayAccessor as _, ArrayRef, StringArray};
use arrow_schema::DataType;
use logpose_core::{Channel, Column, Columns, Layout, Time, Type, Value};
use logpose_model::{Memory, Shape, binary};
use logpose_schema::{Registry, Tree};

/// One column of payloads at the given times, and its memory.
pub(crate) fn column(type_name: &str, samples: &[(i64, Vec<u8>)]) -> (Column, Memory) {
    let channel = Channel::new("/c", type_name);
    let ty = channel.ty();
    let columns = Columns::gather(
        vec![channel],
        |_| {},
        |put| {
            for (time, payload) in samples {
                put(0, Time::from_nanos(*time), &Value::parse(ty, payload, Layout::Little).unwrap());
            }
            Ok(())
        },
    );
    let (mut columns, memory) = columns.unwrap().into_parts();
    (columns.remove(0), memory.into())
}

/// One type name for each way in which values are held.
pub(crate) const TYPES: [&str; 11] =
    ["boolean", "int64", "float", "double", "string", "raw", "boolean[]", "int64[]", "float[]", "double[]", "string[]"];

/// A payload of the type, made of any bytes.
pub(crate) fn payload(ty: Type, bytes: &[u8]) -> Vec<u8> {
    match (ty.fixed_size(), ty.element_size()) {
        (Some(1), _) => vec![bytes.first().map_or(0, |byte| byte & 1)],
        (Some(size), _) => bytes.iter().copied().chain(std::iter::repeat(0)).take(size).collect(),
        (_, Some(size)) => bytes[..bytes.len() / size * size].to_vec(),
        _ if ty == Type::StringArray => {
            let texts: Vec<&[u8]> = bytes.chunks(5).collect();
            let mut payload = u32::try_from(texts.len()).unwrap().to_le_bytes().to_vec();
            for text in texts {
                payload.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
                payload.extend(text);
            }
            payload
        }
        _ => bytes.to_vec(),
    }
}

/// Asserts that a row of an array is the tree; `None` is what does not decode.
pub(crate) fn check_tree(array: &dyn Array, row: usize, tree: Option<&Tree>) {
    let Some(tree) = tree.filter(|tree| **tree != Tree::Null) else {
        assert!(array.is_null(row), "row {row} of {:?} should be null", array.data_type());
        return;
    };
    assert!(array.is_valid(row), "row {row} of {:?} should be {tree}", array.data_type());
    let items = |list: ArrayRef, items: &[Tree]| {
        assert_eq!(list.len(), items.len());
        items.iter().enumerate().for_each(|(at, item)| check_tree(&list, at, Some(item)));
    };
    match (tree, array.data_type()) {
        (Tree::Bool(x), DataType::Boolean) => assert_eq!(array.as_boolean().value(row), *x),
        (Tree::Float(x), DataType::Float32) => {
            assert_eq!(array.as_primitive::<Float32Type>().value(row).to_bits(), x.to_bits());
        }
        (Tree::Double(x), DataType::Float64) => {
            assert_eq!(array.as_primitive::<Float64Type>().value(row).to_bits(), x.to_bits());
        }
        (Tree::Text(x), DataType::Utf8) => assert_eq!(array.as_string::<i32>().value(row), x),
        (Tree::Bytes(x), DataType::Binary) => assert_eq!(array.as_binary::<i32>().value(row), x),
        (Tree::Enum { .. } | Tree::UInt(_), DataType::Dictionary(..)) => {
            let names = array.as_dictionary::<Int32Type>().downcast_dict::<StringArray>().unwrap();
            let expected = match tree {
                Tree::Enum { name: Some(name), .. } => name.clone(),
                Tree::Enum { number, .. } => number.to_string(),
                tree => tree.to_string(),
            };
            assert_eq!(names.value(row), expected);
        }
        (Tree::List(x), DataType::List(_)) => items(array.as_list::<i32>().value(row), x),
        (Tree::List(x), DataType::FixedSizeList(..)) => items(array.as_fixed_size_list().value(row), x),
        (Tree::Map(fields), DataType::Struct(types)) => {
            for (field, column) in types.iter().zip(array.as_struct().columns()) {
                check_tree(column, row, fields.iter().find(|(name, _)| name == field.name()).map(|(_, value)| value));
            }
        }
        (Tree::Map(pairs), DataType::List(_)) => {
            let list = array.as_list::<i32>().value(row);
            assert_eq!(list.len(), pairs.len());
            let columns = list.as_struct().columns();
            for (at, (key, value)) in pairs.iter().enumerate() {
                let shown = arrow_cast::display::array_value_to_string(&columns[0], at).unwrap();
                assert_eq!(shown, *key);
                check_tree(&columns[1], at, Some(value));
            }
        }
        (tree @ (Tree::Int(_) | Tree::UInt(_)), data_type) if data_type.is_integer() => {
            assert_eq!(arrow_cast::display::array_value_to_string(array, row).unwrap(), tree.to_string());
        }
        // What has any shape.
        (tree, DataType::Utf8) => assert_eq!(array.as_string::<i32>().value(row), tree.to_json()),
        (tree, data_type) => panic!("{tree} is a {data_type:?}"),
    }
}

/// Asserts that a column's arrays hold what each payload decodes to; returns how many do not decode.
pub(crate) fn check_column(column: &Column, memory: &Memory, registry: &Registry) -> usize {
    let shape = Shape::of(&column.channel, registry);
    let mut nulls = 0;
    for chunk in &column.chunks {
        let array = shape.array(memory, chunk);
        assert_eq!(array.data_type(), shape.data_type());
        array.to_data().validate_full().unwrap();
        let raw = binary(memory, chunk);
        for row in 0..array.len() {
            let decoded = registry.decode(&column.channel.type_name, raw.value(row)).ok();
            check_tree(&array, row, decoded.as_ref().map(|decoded| &decoded.tree));
            nulls += usize::from(decoded.is_none());
        }
    }
    nulls
}
