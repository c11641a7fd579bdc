import KeyDrills
